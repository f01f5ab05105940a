//! The built command, run as a user runs it. Small inputs are in `tests/data`, recorded outputs in `tests/golden`.

mod book;
mod citations;
mod common;
mod confirm;
mod contract;
mod docs;
mod exact;
mod examples;
mod goldens;
mod hostile;
mod html;
mod interface;
mod layers;
mod limits;
mod manual;
mod repeats;
mod report;
mod sanitizer;
mod sanitizer_builds;
mod sanitizer_faults;
mod sanitizer_findings;
mod sanitizer_header;
mod sanitizer_libraries;
mod scheduling;
mod suite;
mod verdicts;
