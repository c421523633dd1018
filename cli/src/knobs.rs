//! The options for tuning: one for each row of the compiler's table of knobs.

use clap::{
    Arg, ArgMatches, Command,
    builder::{PossibleValue, PossibleValuesParser, UnknownArgumentValueParser},
    error::ErrorKind,
};
use sim_compiler::kernel::schedule::{KNOBS, Knob, Scope, Tuning, Values};

/// The knobs of a command, those up to a scope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knobs<const SCOPE: u8> {
    /// What is set.
    pub(crate) tuning: Tuning,
}

/// Those that change a kernel's text.
pub(crate) type KernelKnobs = Knobs<{ Scope::Kernel as u8 }>;
/// And those that change how it is dispatched.
pub(crate) type DispatchKnobs = Knobs<{ Scope::Dispatch as u8 }>;
/// All.
pub(crate) type AllKnobs = Knobs<{ Scope::Statistics as u8 }>;

/// Former names of knobs, and the names that they have now.
const RENAMED: [(&str, &str); 2] = [("prepare", "--step-table"), ("reassociate", "--relax")];

impl<const SCOPE: u8> Knobs<SCOPE> {
    fn all() -> impl Iterator<Item = &'static Knob> {
        KNOBS.iter().filter(|knob| knob.scope as u8 <= SCOPE)
    }
}

impl<const SCOPE: u8> clap::Args for Knobs<SCOPE> {
    fn augment_args(command: Command) -> Command {
        let renamed = RENAMED.map(|(before, now)| {
            let parser = UnknownArgumentValueParser::suggest_arg(now);
            let option = Arg::new(before).long(before).value_name("BOOL").hide(true);
            let option = option.num_args(0..=1).default_missing_value("");
            option.value_parser(parser)
        });
        command.args(Self::all().map(option)).args(renamed)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const SCOPE: u8> clap::FromArgMatches for Knobs<SCOPE> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut knobs = Knobs {
            tuning: Tuning::AUTO,
        };
        knobs.update_from_arg_matches(matches)?;
        Ok(knobs)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for knob in Self::all() {
            if let Some(text) = matches.get_one::<String>(knob.name) {
                knob.set(&mut self.tuning, text)
                    .map_err(|why| clap::Error::raw(ErrorKind::ValueValidation, why))?;
            }
        }
        Ok(())
    }
}

/// The option of a knob.
fn option(knob: &'static Knob) -> Arg {
    let option = Arg::new(knob.name).long(knob.name).help(knob.help());
    let option = option.help_heading("Tuning, in place of choices by model, device and agents");
    match knob.values {
        Values::Numbers(..) => option
            .help(format!("{} [{}]", knob.help(), knob.values))
            .value_name("N")
            .value_parser(|text: &str| match knob.values.has(text) {
                true => Ok(text.to_owned()),
                false => Err(format!("it is {}", knob.values)),
            }),
        Values::Words(words) => {
            let words = words.iter().map(|&(word, help)| {
                let value = PossibleValue::new(word);
                match help {
                    "" => value,
                    _ => value.help(help),
                }
            });
            let name = match knob.values == Values::BOOL {
                true => "BOOL",
                false => "WORD",
            };
            option
                .value_name(name)
                .value_parser(PossibleValuesParser::new(words))
        }
    }
}

/// The arguments that set what is set.
pub(crate) fn arguments(tuning: &Tuning) -> String {
    let arguments = tuning
        .settings()
        .map(|(knob, value)| format!("--{} {value}", knob.name));
    arguments.collect::<Vec<String>>().join(" ")
}
