//! Which machines can show a finding, in every form of a document.

use super::samples::weak;
use crate::document::{OnMachine, Shows, Variant, can_happen};
use crate::{Details, Style, html, json, junit, merge, read, sarif, text};
use rsan_model::machine::Machine;

fn on(machine: Machine, variant: Option<Variant>, shows: Shows) -> OnMachine {
    OnMachine {
        machine,
        variant,
        shows,
    }
}

#[test]
fn the_line_names_every_machine_once() {
    let said = |machines: &[OnMachine]| can_happen(machines);
    assert_eq!(said(&[]), None);
    let x86 = on(Machine::X86, None, Shows::No);
    let cannot = "cannot happen on: x86";
    assert_eq!(said(&[x86]).as_deref(), Some(cannot));
    let all = [
        x86,
        on(Machine::Armv8, None, Shows::No),
        on(Machine::Armv8, Some(Variant::Ldapr), Shows::Yes),
        on(Machine::Riscv, None, Shows::Yes),
        on(Machine::Power, None, Shows::Unknown),
    ];
    let line = "can happen on: ARMv8 with ldapr, RISC-V; not on: x86, ARMv8; not known for: Power";
    assert_eq!(said(&all).as_deref(), Some(line));
}

#[test]
fn every_form_says_it() {
    let mut document = weak();
    document.findings[0].machines = vec![
        on(Machine::X86, None, Shows::No),
        on(Machine::Armv8, Some(Variant::Ldapr), Shows::Yes),
    ];
    let said = "an happen on: ARMv8 with ldapr; not on: x86";
    let shown = text(&document, Style::Plain, Details::Short);
    assert!(shown.contains(&format!("= c{said}\n")), "{shown}");
    let documents = [document];
    assert!(html(&documents).contains(&format!("<p class=\"machines\">C{said}.</p>")));
    let log = sarif(&documents);
    assert!(log.contains(&format!("C{said}.")), "{log}");
    let log: serde_json::Value = serde_json::from_str(&log).expect("JSON");
    let machines = serde_json::json!([
        { "machine": "x86", "shows": "no" },
        { "machine": "armv8", "variant": "ldapr", "shows": "yes" },
    ]);
    let properties = &log["runs"][0]["results"][0]["properties"];
    assert_eq!(properties["machines"], machines);
    assert!(junit(&documents).contains(said));
    let again = read(&json(&documents, false)).expect("a document");
    assert_eq!(again, documents);
    let [document] = documents;
    let merged = merge(vec![weak(), document.clone()]);
    assert_eq!(merged[0].findings.len(), 1);
    assert_eq!(
        merged[0].findings[0].machines,
        weak().findings[0].machines,
        "it is about the execution that is shown"
    );
    let merged = merge(vec![document.clone(), weak()]);
    assert_eq!(
        merged[0].findings[0].machines,
        document.findings[0].machines
    );
}
