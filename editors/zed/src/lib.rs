//! The Sim extension for Zed: says how `simc lsp` is started.

use zed_extension_api::{self as zed, settings::LspSettings, Command, LanguageServerId, Result, Worktree};

struct Sim;

impl zed::Extension for Sim {
    fn new() -> Self {
        Sim
    }

    fn language_server_command(&mut self, id: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let binary = LspSettings::for_worktree(id.as_ref(), worktree)
            .ok()
            .and_then(|settings| settings.binary);
        let path = binary.and_then(|binary| binary.path);
        let command = path
            .or_else(|| worktree.which("simc"))
            .ok_or("`simc` is not on the PATH: install it, or set `lsp.simc.binary.path`")?;
        Ok(Command {
            command,
            args: vec!["lsp".into()],
            env: worktree.shell_env(),
        })
    }
}

zed::register_extension!(Sim);
