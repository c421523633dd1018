//! `simc man`: the manual pages of the command, for `man`.

use crate::{failure::Failure, output, problem, standard_output, terminal};
use clap::Command;
use clap_mangen::{
    Man,
    roff::{Roff, roman},
};
use std::{fs, io, io::Write, path::PathBuf};

/// Arguments of `simc man`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  simc man | man -l -                             the page of simc
  simc man run | man -l -                         that of simc run
  simc man --output ~/.local/share/man/man1       all pages; then `man simc-run` finds them")]
pub(crate) struct Args {
    /// Command to show the page of.
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
    /// Directory to write all pages to, `simc.1`, `simc-run.1`, ….
    #[arg(long, short, value_name = "DIR", conflicts_with = "command")]
    #[arg(value_hint = clap::ValueHint::DirPath)]
    output: Option<PathBuf>,
}

/// Prints a page, or writes all of them.
pub(crate) fn man(args: &Args, mut command: Command) -> Result<(), Failure> {
    // Global arguments and `help` belong to every page.
    command.build();
    let pages = pages(&command);
    if let Some(directory) = &args.output {
        fs::create_dir_all(directory).map_err(|error| problem::unwritable(directory, &error))?;
        for (name, page) in &pages {
            let path = directory.join(format!("{name}.1"));
            output::replace(&path, |out| out.write_all(&rendered(page)?))?;
        }
        let directory = directory.display();
        terminal::note(format!("wrote {} pages to {directory}\n", pages.len()));
        return Ok(());
    }
    let wanted = match &args.command {
        Some(name) => format!("simc-{name}"),
        None => "simc".to_owned(),
    };
    match pages.iter().find(|(name, _)| *name == wanted) {
        Some((_, page)) => {
            let text = rendered(page).map_err(|error| problem::standard_output(&error))?;
            standard_output::print(text)
        }
        None => {
            let known: Vec<&str> = pages
                .iter()
                .filter_map(|(name, _)| name.strip_prefix("simc-"))
                .collect();
            Err(problem::no_such_page(args.command.as_deref().unwrap_or_default(), &known).into())
        }
    }
}

/// The command and its subcommands, with the names of their pages.
fn pages(command: &Command) -> Vec<(String, Command)> {
    let visible = |inner: &&Command| inner.get_name() != "help" && !inner.is_hide_set();
    let mut pages = vec![("simc".to_owned(), command.clone())];
    for inner in command.get_subcommands().filter(visible) {
        let name = format!("simc-{}", inner.get_name());
        // The name that the page has and is called by.
        let page = inner.clone().display_name(name.clone());
        pages.push((name, page.version(env!("CARGO_PKG_VERSION"))));
    }
    pages
}

fn rendered(page: &Command) -> io::Result<Vec<u8>> {
    let (mut text, man) = (Vec::new(), Man::new(page.clone()));
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if page.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    if let Some(notes) = page.get_after_help() {
        // Its lines are laid out already: without filling they stay.
        let mut section = Roff::new();
        section.control("SH", ["NOTES"]).control("nf", []);
        for line in notes.to_string().lines() {
            section.text([roman(line)]);
        }
        section.control("fi", []).to_writer(&mut text)?;
    }
    Ok(text)
}
