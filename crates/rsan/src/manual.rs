//! `rsan man`: manual pages, made of the table of options and of what the help says below it.

use crate::args::{Cli, ManArgs};
use crate::folders::{self, Home};
use crate::status::Status;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io;

/// Prints a page, or installs all of them.
pub(crate) fn run(args: &ManArgs) -> Status {
    folders::print(answer(args))
}

fn answer(args: &ManArgs) -> Result<String, String> {
    if args.install {
        return install(args);
    }
    let (rsan, commands) = pages();
    let Some(name) = &args.command else {
        return Ok(render(&rsan));
    };
    let short = |page: &Command| title(page).trim_start_matches("rsan-").to_owned();
    let page = commands.iter().find(|page| short(page) == *name);
    let page = page.ok_or_else(|| {
        let names: Vec<_> = commands.iter().map(short).collect();
        let names = names.join(", ");
        format!("rsan has no command {name}; it has {names}\n")
    })?;
    Ok(render(page))
}

fn install(args: &ManArgs) -> Result<String, String> {
    let folder = args.dir.clone().or_else(|| Home::current().manuals());
    let folder = folder.ok_or("no folder for them: neither HOME nor --dir names one\n")?;
    let mut written = String::new();
    let (rsan, commands) = pages();
    for page in std::iter::once(&rsan).chain(&commands) {
        let name = format!("{}.1", title(page));
        let path = folders::install(&folder.join("man1"), &name, render(page).as_bytes())?;
        written.push_str(&format!("{}\n", path.display()));
    }
    Ok(written)
}

/// What there are pages about: `rsan`, and its commands.
fn pages() -> (Command, Vec<Command>) {
    let mut rsan = Cli::command().disable_help_subcommand(true);
    rsan.build();
    let commands = rsan.get_subcommands();
    let all =
        commands.flat_map(|command| std::iter::once(command).chain(command.get_subcommands()));
    let all = all.filter(|command| command.get_name() != "help");
    let all = all.cloned().collect();
    (rsan, all)
}

/// The name of a page: `rsan`, `rsan-check`.
fn title(command: &Command) -> String {
    let name = command.get_display_name().unwrap_or(command.get_name());
    name.to_owned()
}

fn render(command: &Command) -> String {
    let mut page = Vec::new();
    write(command, &mut page).expect("memory can be written to");
    String::from_utf8(page).expect("pages are UTF-8, as their help texts are")
}

fn write(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let man = Man::new(command.clone())
        .title(title(command))
        .source(format!("rsan {version}"))
        .manual("rsan");
    let after = command.get_after_help().map(ToString::to_string);
    let after = Below::new(after.as_deref().unwrap_or_default());
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    after.description(page)?;
    man.render_options_section(page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(page)?;
    }
    after.rest(page)?;
    see_also(command, page)
}

/// What the help says below the options, a paragraph each: about the command, the exit status, and examples.
struct Below<'a> {
    paragraphs: Vec<&'a str>,
}

const STATUS: &str = "Exit status: ";
const EXAMPLES: &str = "Examples:\n";

impl<'a> Below<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            paragraphs: text.split("\n\n").filter(|p| !p.is_empty()).collect(),
        }
    }

    /// What belongs to the description.
    fn description(&self, page: &mut Vec<u8>) -> io::Result<()> {
        let own = |p: &&&str| !p.starts_with(STATUS) && !p.starts_with(EXAMPLES);
        let mut roff = Roff::new();
        for paragraph in self.paragraphs.iter().filter(own) {
            roff.control("PP", []);
            lines(&mut roff, paragraph);
        }
        roff.to_writer(page)
    }

    /// Sections of their own.
    fn rest(&self, page: &mut Vec<u8>) -> io::Result<()> {
        for (start, heading) in [(STATUS, "EXIT STATUS"), (EXAMPLES, "EXAMPLES")] {
            for text in self.paragraphs.iter().filter_map(|p| p.strip_prefix(start)) {
                let mut roff = Roff::new();
                roff.control("SH", [heading]);
                lines(&mut roff, text);
                roff.to_writer(page)?;
            }
        }
        Ok(())
    }
}

/// Prose is filled; lines that are indented, of tables and examples, stay as they are.
fn lines(roff: &mut Roff, text: &str) {
    let mut verbatim = false;
    for line in text.lines() {
        let indented = line.starts_with(' ');
        if indented != verbatim {
            roff.control(if indented { "nf" } else { "fi" }, []);
            verbatim = indented;
        }
        roff.text([roman(line)]);
    }
    if verbatim {
        roff.control("fi", []);
    }
}

fn see_also(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let own = title(command);
    let (rsan, commands) = pages();
    let all = std::iter::once(&rsan).chain(&commands).map(title);
    let names: Vec<_> = all.filter(|name| *name != own).collect();
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]);
    for (i, name) in names.iter().enumerate() {
        let comma = if i + 1 < names.len() { "," } else { "" };
        roff.text([bold(name), roman(format!("(1){comma}"))]);
    }
    roff.to_writer(page)
}
