//! `rsan fence`: the cheapest fences that make a program robust, and the proof that each is needed.

mod orders;
pub(crate) mod output;
mod rewrite;
mod source;
mod tso;

use crate::args::{FenceArgs, Rendering};
use crate::files;
use crate::input::{failure, read_any};
use crate::interrupt;
use crate::session::{Reply, Session, accept_all, eprint};
use crate::status::Status;
use crate::terminal;
use rsan_model::Model;
use rsan_report::Details;
use rsan_report::document::Severity;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Costs by thread and control state, or line; what is not there costs 1.
type Costs = BTreeMap<String, BTreeMap<String, u64>>;

/// Finds fences for every input.
pub(crate) fn run(args: &FenceArgs) -> Status {
    let Some(stop) = interrupt::stop_flag() else {
        return Status::BadInput;
    };
    if args.output.is_some() && args.files.len() > 1 {
        eprint("error: --output takes one program; the others would be lost\n");
        return Status::BadInput;
    }
    let costs = match args.cost.as_deref().map_or(Ok(Costs::new()), read_costs) {
        Ok(costs) => costs,
        Err(message) => {
            eprint(&message);
            return Status::BadInput;
        }
    };
    let session = Session {
        files: &args.files,
        rendering: Rendering {
            format: args.format,
            file: None,
            details: Details::Full,
        },
        dot: None,
        baseline: None,
        fail_on: Severity::default(),
        refuse: accept_all,
    };
    session.run(&mut |file| answer(args, &costs, &stop, file))
}

fn read_costs(path: &Path) -> Result<Costs, String> {
    let name = path.display().to_string();
    let text = files::read_text(path, files::TEXT).map_err(|e| failure(&name, &e))?;
    serde_json::from_str(&text).map_err(|e| {
        let message = format!("{e}; expected {{\"thread\": {{\"state\": cost}}}}");
        failure(&name, &message)
    })
}

fn answer(args: &FenceArgs, costs: &Costs, stop: &AtomicBool, file: &str) -> Result<Reply, String> {
    let input = read_any(file, terminal::stderr_style())?;
    match input.model(args.model) {
        Model::Tso => tso::answer(args, costs, stop, &input.into()),
        model => orders::answer(args, model, costs, stop, &input.program()?),
    }
}
