//! A module as lines, for goldens.

use rsan_ir::module::{Instr, Module, Place};
use std::fmt::Write;

pub(crate) fn render(module: &Module) -> String {
    let mut out = String::new();
    for global in &module.globals {
        line(&mut out, &format!("{global:?}"));
    }
    for (index, ty) in module.types.iter().enumerate() {
        line(&mut out, &format!("type {index}: {ty:?}"));
    }
    for (index, function) in module.functions.iter().enumerate() {
        let pure = if function.pure { " pure" } else { "" };
        let internal = if function.internal { " internal" } else { "" };
        let at = place(module, function.place);
        let title = &function.title;
        line(
            &mut out,
            &format!(
                "\nfunction {index}: {title}/{}{internal}{pure}{at}",
                function.parameters
            ),
        );
        for (index, value) in function.values.iter().enumerate() {
            line(&mut out, &format!("  v{index} = {value:?}"));
        }
        for (index, block) in function.blocks.iter().enumerate() {
            let next: Vec<u32> = block.successors.iter().map(|next| next.0).collect();
            let success = block
                .on_success
                .map_or(String::new(), |number| format!(" success of {number}"));
            let returns = block
                .returns
                .map_or(String::new(), |value| format!(" returns v{}", value.0));
            line(
                &mut out,
                &format!(
                    "  block {index} -> {next:?}{success}{returns} end {}",
                    block.end
                ),
            );
            for found in &block.instrs {
                line(&mut out, &instr(module, found));
            }
        }
    }
    out
}

fn instr(module: &Module, instr: &Instr) -> String {
    let mut text = format!(
        "    {}: {:?}{}",
        instr.number,
        instr.op,
        place(module, instr.place)
    );
    for frame in &instr.inlined {
        let call = place(module, frame.call);
        write!(text, " in {}{call}", frame.function).expect("a string");
    }
    text
}

fn place(module: &Module, place: Option<Place>) -> String {
    place.map_or_else(String::new, |place| {
        let file = &module.files[place.file as usize];
        format!(
            " at {}/{}:{}:{}",
            file.directory, file.name, place.line, place.column
        )
    })
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}
