//! The verdicts that the authors of a TPL program give in its comments.
//!
//! `// ROBUSTNESS egr: robust: ra. not: rlx.`: `egr` is robustness, `wegr` observational robustness, `ra` the RA model, `rlx`
//! RC20. What the lines leave out follows from what they say: robust against RC20 implies robust against RA,
//! and robust implies observationally robust; negations go the other way.

use rsan_model::Model;

/// A property that the comments speak of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Property {
    /// `egr`: every weak execution graph is sequentially consistent.
    Robust,
    /// `wegr`: every weak behaviour that the program can observe is sequentially consistent.
    Observational,
}

/// What the comments of a program say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ExpectedVerdicts {
    /// Indexed by property, then by model.
    holds: [[Option<bool>; 2]; 2],
}

impl ExpectedVerdicts {
    /// Whether the program has the property under the model; `None` when the comments do not say, as for every
    /// model other than RA and RC20.
    pub fn get(&self, property: Property, model: Model) -> Option<bool> {
        self.holds[property as usize][model_index(model)?]
    }
}

fn model_index(model: Model) -> Option<usize> {
    match model {
        Model::Ra => Some(0),
        Model::Rc20 => Some(1),
        Model::Sc | Model::Tso | Model::C20 | Model::Rc11 => None,
    }
}

/// Reads the `// ROBUSTNESS` comments of a program.
pub fn expected_verdicts(text: &str) -> ExpectedVerdicts {
    let mut verdicts = ExpectedVerdicts::default();
    for line in text.lines() {
        let comment = line.trim_start().strip_prefix("//").map(str::trim_start);
        if let Some(rest) = comment.and_then(|c| c.strip_prefix("ROBUSTNESS")) {
            read_line(rest, &mut verdicts.holds);
        }
    }
    // Two implications, each of which can feed the other.
    for _ in 0..2 {
        for property in 0..2 {
            let [ra, rc20] = &mut verdicts.holds[property];
            imply(rc20, ra);
        }
        for model in 0..2 {
            let [robust, observational] = &mut verdicts.holds;
            imply(&mut robust[model], &mut observational[model]);
        }
    }
    verdicts
}

/// `egr: robust: ra. not: rlx.`
fn read_line(line: &str, holds: &mut [[Option<bool>; 2]; 2]) {
    let Some((property, rest)) = line.split_once(':') else {
        return;
    };
    let property = match property.trim() {
        "egr" => Property::Robust,
        "wegr" => Property::Observational,
        _ => return,
    };
    for clause in rest.split('.') {
        let Some((verdict, models)) = clause.split_once(':') else {
            continue;
        };
        let verdict = match verdict.trim() {
            "robust" => true,
            "not" => false,
            _ => continue,
        };
        for model in models.split(',') {
            match model.trim() {
                "ra" => holds[property as usize][0] = Some(verdict),
                "rlx" => holds[property as usize][1] = Some(verdict),
                _ => {}
            }
        }
    }
}

/// Completes two facts of which the first implies the second.
fn imply(first: &mut Option<bool>, second: &mut Option<bool>) {
    if *first == Some(true) {
        *second = second.or(Some(true));
    }
    if *second == Some(false) {
        *first = first.or(Some(false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(text: &str) -> [Option<bool>; 4] {
        let v = expected_verdicts(text);
        [
            v.get(Property::Robust, Model::Ra),
            v.get(Property::Robust, Model::Rc20),
            v.get(Property::Observational, Model::Ra),
            v.get(Property::Observational, Model::Rc20),
        ]
    }

    #[test]
    fn what_is_said_is_read() {
        let text =
            "// ROBUSTNESS egr: robust: ra. not: rlx.\n// ROBUSTNESS wegr: not: rlx.\nglobal x;";
        let expected = [Some(true), Some(false), Some(true), Some(false)];
        assert_eq!(verdicts(text), expected);
        assert_eq!(verdicts("global x;"), [None; 4]);
    }

    #[test]
    fn robust_against_rc20_implies_everything() {
        assert_eq!(verdicts("// ROBUSTNESS egr: robust: rlx."), [Some(true); 4]);
    }

    #[test]
    fn not_observationally_robust_against_ra_refutes_everything() {
        assert_eq!(verdicts("// ROBUSTNESS wegr: not: ra."), [Some(false); 4]);
    }

    #[test]
    fn the_other_directions_say_nothing() {
        let text = "// ROBUSTNESS egr: not: ra.";
        assert_eq!(verdicts(text), [Some(false), Some(false), None, None]);
        let text = "// ROBUSTNESS wegr: robust: ra.";
        assert_eq!(verdicts(text), [None, None, Some(true), None]);
    }

    #[test]
    fn other_models_have_no_verdict() {
        let v = expected_verdicts("// ROBUSTNESS egr: robust: ra,rlx.");
        assert_eq!(v.get(Property::Robust, Model::C20), None);
    }
}
