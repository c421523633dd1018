//! `simc lsp`: the language server, for editors.

use crate::{failure::Failure, terminal};
use sim_lsp::Farewell;

/// Arguments of `simc lsp`.
#[derive(clap::Args)]
#[command(after_help = "\
Editors start it; it speaks the Language Server Protocol on standard input and output
until the editor exits.")]
pub(crate) struct Args {
    /// Accepted for editors that pass it; standard input and output are always used.
    #[arg(long)]
    stdio: bool,
}

/// Serves one editor.
pub(crate) fn lsp(args: &Args) -> Result<(), Failure> {
    let Args { stdio: _ } = args;
    match sim_lsp::serve_stdio() {
        Ok(Farewell::Orderly) => Ok(()),
        // The protocol requires the exit code 1; no more is read.
        Ok(Farewell::Abrupt) => Err(Failure::Reported),
        Err(error) => {
            terminal::remark(format!("the editor's connection broke: {error}\n"));
            Err(Failure::Reported)
        }
    }
}
