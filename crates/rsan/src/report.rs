//! `rsan report`: answers that were written before, merged and in another form.

use crate::args::ConvertArgs;
use crate::files;
use crate::input::failure;
use crate::session::{baseline, eprint, misread, print, render};
use crate::status::Status;
use rsan_report::{Document, merge, read, schema};
use std::io;
use std::path::Path;

/// Shows the answers.
pub(crate) fn run(args: &ConvertArgs) -> Status {
    if args.schema {
        return print(&schema());
    }
    let baseline = match baseline(&args.report) {
        Ok(baseline) => baseline,
        Err(status) => return status,
    };
    let mut status = Status::Clean;
    let mut documents = Vec::new();
    for file in &args.files {
        match documents_of(file) {
            Ok(more) => documents.extend(more),
            Err(message) => {
                eprint(&message);
                status = Status::BadInput;
            }
        }
    }
    let mut documents = merge(documents);
    for document in &mut documents {
        if args.include_libraries {
            let all = document.findings.iter_mut();
            all.for_each(|finding| finding.in_libraries = false);
            document.judge();
        }
        if let Some(baseline) = &baseline {
            baseline.apply(document);
        }
        document.fail_on = args.report.fail_on;
        status = status.and(Status::from(&*document));
    }
    let several = documents.len() > 1;
    status.and(render(args.report.rendering(), documents, several))
}

/// The documents of a file; `-` is standard input.
///
/// # Errors
/// The complete message for the user.
fn documents_of(file: &str) -> Result<Vec<Document>, String> {
    let (name, bytes) = match file {
        "-" => (
            "<stdin>",
            files::read_from(io::stdin().lock(), files::RECORD),
        ),
        path => (path, files::read(Path::new(path), files::RECORD)),
    };
    let bytes = bytes.map_err(|error| failure(name, &error))?;
    let mut text = String::from_utf8(bytes).map_err(|_| failure(name, &"the text is not UTF-8"))?;
    files::skip_mark(&mut text);
    read(&text).map_err(|error| misread(name, &error))
}
