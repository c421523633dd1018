//! Mutation testing with one build: all chosen mutants are in the code at once, and an environment variable
//! says which of them is awake. See README.md.

mod find;
mod prepare;
mod rewrite;
mod run;

use std::process::ExitCode;

const USAGE: &str =
    "mutants prepare --tree COPY --seed N --count N [--statements] [--skip NUMBER,…] PATH…
mutants run --tree COPY --plan FILE --results FILE [--only NUMBER,…] [--jobs N]";

/// The value after an option, taken out of the arguments.
pub fn option(args: &mut Vec<String>, name: &str) -> Option<String> {
    let at = args.iter().position(|arg| arg == name)?;
    args.remove(at);
    (at < args.len()).then(|| args.remove(at))
}

/// Numbers with commas between them.
pub fn numbers(text: Option<String>) -> Result<Vec<usize>, String> {
    let text = text.unwrap_or_default();
    (text.split(',').filter(|number| !number.is_empty()))
        .map(|number| {
            number
                .parse()
                .map_err(|_| format!("`{number}` is no number"))
        })
        .collect()
}

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let command = if args.is_empty() {
        String::new()
    } else {
        args.remove(0)
    };
    let outcome = match command.as_str() {
        "prepare" => prepare::prepare(args),
        "run" => run::run(args),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaint) => {
            eprintln!("{complaint}");
            ExitCode::FAILURE
        }
    }
}
