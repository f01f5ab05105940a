//! The values of options: what is accepted, and what is said of the rest.

use rsan_mapping::Target;
use rsan_model::Model;
use rsan_model::machine::Machine;
use rsan_report::document::Severity;
use rsan_verify::Property;

/// The form of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OutputFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
    /// A page, for people who look at it.
    Html,
    /// For code scanning.
    Sarif,
    /// For the test tabs of CI systems.
    Junit,
    /// For Graphviz.
    Dot,
}

pub(super) fn format(text: &str) -> Result<OutputFormat, String> {
    match text {
        "text" => Ok(OutputFormat::Text),
        "json" => Ok(OutputFormat::Json),
        "html" => Ok(OutputFormat::Html),
        "sarif" => Ok(OutputFormat::Sarif),
        "junit" => Ok(OutputFormat::Junit),
        "dot" => Ok(OutputFormat::Dot),
        _ => Err("there are text, json, html, sarif, junit and dot".to_owned()),
    }
}

pub(super) fn severity(text: &str) -> Result<Severity, String> {
    let all = [Severity::Error, Severity::Warning, Severity::Note];
    let named = all.into_iter().find(|severity| severity.name() == text);
    named.ok_or_else(|| "there are error, warning and note".to_owned())
}

pub(super) fn verify_model(text: &str) -> Result<Model, String> {
    match text.parse()? {
        model @ (Model::C20 | Model::Rc20 | Model::Ra | Model::Tso) => Ok(model),
        Model::Sc => Err(
            "every program is robust against SC; to check only assertions and races, use \
             --property safe"
                .to_owned(),
        ),
        Model::Rc11 => Err(
            "robustness against RC11 is not decided; use c20, or `rsan litmus --model rc11`"
                .to_owned(),
        ),
    }
}

pub(super) fn run_model(text: &str) -> Result<Model, String> {
    match text.parse()? {
        model @ (Model::C20 | Model::Rc20) => Ok(model),
        model => Err(format!(
            "programs that are run are not checked against {model}; there are c20 and rc20"
        )),
    }
}

pub(super) fn fence_model(text: &str) -> Result<Model, String> {
    match text.parse()? {
        model @ (Model::Tso | Model::Ra | Model::Rc20 | Model::C20) => Ok(model),
        model @ (Model::Sc | Model::Rc11) => Err(format!(
            "there are no repairs against {model}; there are tso, ra, rc20 and c20"
        )),
    }
}

/// The rules that `litmus` goes by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LitmusModel {
    /// Those of a language, for programs with memory orders; `sc` is for assembly, too.
    Language(Model),
    /// Those of a machine, for assembly.
    Machine(Machine),
}

pub(super) fn litmus_model(text: &str) -> Result<LitmusModel, String> {
    let model = text.parse::<Model>().map(LitmusModel::Language);
    let machine = || text.parse::<Machine>().map(LitmusModel::Machine);
    model.or_else(|_| machine()).map_err(|_| {
        let machines = Machine::ALL.into_iter().filter(|m| *m != Machine::Sc);
        let names: Vec<_> = Model::ALL
            .map(Model::name)
            .into_iter()
            .chain(machines.map(Machine::name))
            .collect();
        format!("unknown model `{text}` (known: {})", names.join(", "))
    })
}

pub(super) fn arch(text: &str) -> Result<Target, String> {
    text.parse()
}

/// What is to be proved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Goal {
    /// By the search under SC.
    Search(Property),
    /// No triangular races (TSO).
    TriangularRaceFree,
}

pub(super) fn property(text: &str) -> Result<Goal, String> {
    match text {
        "trf" => Ok(Goal::TriangularRaceFree),
        _ => text.parse().map(Goal::Search),
    }
}

/// A shell that completes command lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub(super) fn shell(text: &str) -> Result<Shell, String> {
    match text {
        "bash" => Ok(Shell::Bash),
        "zsh" => Ok(Shell::Zsh),
        "fish" => Ok(Shell::Fish),
        _ => Err("there are bash, zsh and fish".to_owned()),
    }
}

/// What a volatile access counts as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Volatile {
    /// A relaxed atomic access.
    #[default]
    Relaxed,
    /// An acquire load, or a release store.
    AcqRel,
    /// Any other access.
    Plain,
}

impl Volatile {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Relaxed => "relaxed",
            Self::AcqRel => "acqrel",
            Self::Plain => "plain",
        }
    }
}

pub(crate) fn volatile(text: &str) -> Result<Volatile, String> {
    let all = [Volatile::Relaxed, Volatile::AcqRel, Volatile::Plain];
    let named = all.into_iter().find(|volatile| volatile.name() == text);
    named.ok_or_else(|| "there are relaxed, acqrel and plain".to_owned())
}

/// Largest number of workers that is taken for a wish rather than a typing error.
const MAX_JOBS: usize = 1024;

pub(super) fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n <= MAX_JOBS => Ok(n),
        _ => Err(format!("expected a number from 0 to {MAX_JOBS}")),
    }
}

/// More shards than that are not one job array.
const MAX_SHARDS: usize = 1000;

pub(super) fn shards(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=MAX_SHARDS).contains(&n) => Ok(n),
        _ => Err(format!("expected a number from 1 to {MAX_SHARDS}")),
    }
}

pub(super) fn cpus(text: &str) -> Result<usize, String> {
    match jobs(text) {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("expected a number from 1 to {MAX_JOBS}")),
    }
}

pub(super) fn runs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("expected a number from 1".to_owned()),
    }
}

/// Levels of optimisation that gcc and clang have.
const LEVELS: [&str; 8] = ["0", "1", "2", "3", "s", "z", "g", "fast"];

pub(super) fn level(text: &str) -> Result<String, String> {
    match LEVELS.contains(&text) {
        true => Ok(text.to_owned()),
        false => Err(format!("there are {}", LEVELS.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_refused_with_a_reason() {
        assert!(format("xml").is_err_and(|e| e.contains("sarif, junit")));
        assert!(verify_model("rc11").is_err_and(|e| e.contains("use c20")));
        assert!(verify_model("sc").is_err_and(|e| e.contains("--property safe")));
        assert!(verify_model("arm").is_err_and(|e| e.contains("unknown model")));
        assert!(jobs("100000").is_err());
        assert_eq!(volatile("plain"), Ok(Volatile::Plain));
        assert!(volatile("atomic").is_err_and(|e| e.contains("acqrel")));
        assert!(severity("fatal").is_err_and(|e| e.contains("warning and note")));
        assert_eq!(severity("note"), Ok(Severity::Note));
        assert!(level("4").is_err_and(|e| e.contains("there are 0, 1")));
    }
}
