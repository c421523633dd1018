//! `simc completions`: what a shell needs to complete the arguments of the command.

use crate::{failure::Failure, standard_output};
use clap::Command;
use clap_complete::Shell;

/// Arguments of `simc completions`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  simc completions bash > ~/.local/share/bash-completion/completions/simc
  simc completions zsh > ~/.zfunc/_simc      with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc
  simc completions fish > ~/.config/fish/completions/simc.fish
  simc completions powershell >> $PROFILE
  simc completions elvish >> ~/.config/elvish/rc.elv")]
pub(crate) struct Args {
    /// Shell to write them for.
    shell: Shell,
}

/// Prints the completions of a command.
pub(crate) fn completions(args: &Args, mut command: Command) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "simc", &mut text);
    standard_output::print(text)
}
