//! The process of the `simc` command.

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    quiet_drivers();
    ExitCode::from(simc::main_with(env::args_os().collect()))
}

/// Without this variable, as in containers, Linux's software driver complains on standard error about a
/// desktop that nobody asked for.
fn quiet_drivers() {
    if cfg!(target_os = "linux") && env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: no other thread exists yet that could read the environment.
        unsafe { env::set_var("XDG_RUNTIME_DIR", env::temp_dir()) };
    }
}
