//! Host memory: what a run needs, and whether it is available. Linux overcommits memory and later kills the
//! process without a message, so the check is made before a run.

mod available;
mod huge_pages;
mod reused;

pub use available::available;
pub(crate) use reused::{keep, to_overwrite};

use crate::parallel;
use crate::{control::Keep, error::Error};
use sim_compiler::{
    manifest::{Field, Manifest, Scalar, SeriesOf},
    value::WORD_BYTES,
};

/// Smaller needs are not checked: a check takes as long as a short run on a GPU.
const ALWAYS: u64 = 64 << 20;

/// The parts for what is sampled: of each agent, and of worlds and the population.
const SAMPLES: [&str; 2] = ["records", "observations"];

/// The memory that a run will allocate.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    agents: u32,
    parts: Vec<Part>,
    keeps_outputs: bool,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    what: &'static str,
    /// Bytes per agent.
    each: u64,
    /// Bytes independent of the number of agents.
    fixed: u64,
}

impl Part {
    fn bytes(&self, agents: u64) -> u64 {
        agents.saturating_mul(self.each).saturating_add(self.fixed)
    }
}

impl Need {
    /// No memory yet, for a run of `agents` agents.
    pub(crate) fn new(agents: u32) -> Need {
        Need {
            agents,
            parts: Vec::new(),
            keeps_outputs: false,
        }
    }

    /// Adds words per agent.
    pub(crate) fn each(&mut self, what: &'static str, words: u64) {
        let each = words.saturating_mul(WORD_BYTES);
        self.parts.push(Part {
            what,
            each,
            fixed: 0,
        });
    }

    /// Adds bytes that do not depend on the number of agents.
    pub(crate) fn fixed(&mut self, what: &'static str, bytes: u64) {
        self.parts.push(Part {
            what,
            each: 0,
            fixed: bytes,
        });
    }

    /// Adds the results of `runs` runs. States and outputs that are not kept are counted for one run only.
    pub(crate) fn results(&mut self, manifest: &Manifest, keep: Keep, runs: usize) {
        self.keeps_outputs = keep.outputs;
        let (runs, held) = (runs as u64, if keep.outputs { runs as u64 } else { 1 });
        self.each("outputs", held * words(&manifest.outputs));
        if keep.steps {
            self.each("step counts", held);
        }
        if keep.states {
            self.each("states", runs * words(&manifest.states));
        }
    }

    /// Adds what `runs` runs of so many steps sample of agents and of `worlds` worlds or units.
    pub(crate) fn series(&mut self, manifest: &Manifest, steps: u32, worlds: u32, runs: usize) {
        if manifest.series.is_empty() {
            return;
        }
        let words = manifest.record_words(steps);
        self.each(SAMPLES[0], words.saturating_mul(runs as u64));
        let units = manifest
            .world_record_words(steps)
            .saturating_mul(worlds.into());
        // Quantiles and bins are wider than what they are computed from.
        let found = manifest
            .series
            .iter()
            .filter(|it| it.fold.is_some())
            .map(|it| {
                let samples = manifest.samplings[it.sampling as usize].samples(steps);
                let groups = match it.of {
                    SeriesOf::Worlds => worlds,
                    SeriesOf::Agents | SeriesOf::Population => 1,
                };
                let words = u64::from(samples) * u64::from(groups);
                words.saturating_mul(it.field.words().into())
            });
        let words = found.fold(units, u64::saturating_add);
        self.fixed(
            SAMPLES[1],
            (runs as u64).saturating_mul(words.saturating_mul(WORD_BYTES)),
        );
    }

    pub(crate) fn bytes(&self) -> u64 {
        let agents = u64::from(self.agents);
        let parts = self.parts.iter().map(|part| part.bytes(agents));
        parts.fold(0, u64::saturating_add)
    }

    /// Checks that the memory is available.
    ///
    /// # Errors
    /// [`Error::HostMemory`]
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.bytes() {
            0..ALWAYS => Ok(()),
            bytes => available_for(bytes).map_or(Ok(()), |available| self.check_against(available)),
        }
    }

    fn check_against(&self, available: u64) -> Result<(), Error> {
        let usable = usable(available);
        let bytes = self.bytes();
        if bytes <= usable {
            return Ok(());
        }
        let agents = u64::from(self.agents);
        let sum = |of: fn(&Part) -> u64| self.parts.iter().map(of).fold(0, u64::saturating_add);
        let (each, fixed) = (sum(|part| part.each), sum(|part| part.fixed));
        let most = usable.saturating_sub(fixed).checked_div(each).unwrap_or(0);
        let parts = self
            .parts
            .iter()
            .map(|part| (part.what, part.bytes(agents)));
        let sampled = parts.clone().filter(|(what, _)| SAMPLES.contains(what));
        let sampled = sampled.fold(0, |sum: u64, (_, bytes)| sum.saturating_add(bytes));
        Err(Error::HostMemory {
            bytes,
            available: Some(available),
            parts: parts.filter(|&(_, part)| part > bytes / 100).collect(),
            most_agents: rounded(most.min(agents) as u32),
            samples: sampled > bytes / 2,
            keeps_outputs: self.keeps_outputs,
        })
    }
}

/// Words per agent of some fields; a `bool` takes a byte more for its conversion,
/// and an `f64` its words again.
fn words(fields: &[Field]) -> u64 {
    let words = |field: &Field| {
        let converted = match field.scalar {
            Scalar::Bool => u64::from(field.values()).div_ceil(WORD_BYTES),
            Scalar::F64 => u64::from(field.words()),
            Scalar::F32 | Scalar::I32 | Scalar::U32 => 0,
        };
        u64::from(field.words()) + converted
    };
    fields.iter().map(words).sum()
}

/// Rounds down to two significant digits; `None` for 0.
fn rounded(number: u32) -> Option<u32> {
    let unit = 10_u32.pow(number.max(1).ilog10().saturating_sub(1));
    Some(number / unit * unit).filter(|&number| number > 0)
}

/// Checks that an allocation of `bytes` bytes is possible.
///
/// # Errors
/// [`Error::HostMemory`]
pub(crate) fn check(bytes: u64) -> Result<(), Error> {
    match bytes {
        0..ALWAYS => Ok(()),
        _ => match available_for(bytes) {
            Some(available) if bytes > available => Err(short(bytes, Some(available))),
            Some(_) | None => Ok(()),
        },
    }
}

/// The bytes that are available, if that is known. Frees memory that is kept for results where they are too
/// few.
fn available_for(bytes: u64) -> Option<u64> {
    let found = available()?;
    match usable(found) < bytes && reused::free() {
        true => available(),
        false => Some(found),
    }
}

/// What a run may take of the available bytes: all but a margin for page tables and other processes.
fn usable(available: u64) -> u64 {
    available - available / 20
}

/// The error for memory that is not available.
pub(crate) fn short(bytes: u64, available: Option<u64>) -> Error {
    Error::HostMemory {
        bytes,
        available,
        parts: Vec::new(),
        most_agents: None,
        samples: false,
        keeps_outputs: false,
    }
}

/// The number of words from which parallel copies pay.
pub(crate) const MANY: usize = 1 << 18;

/// A vector of zeros.
///
/// # Errors
/// [`Error::HostMemory`]
pub(crate) fn zeroed(len: usize) -> Result<Vec<u32>, Error> {
    let bytes = len as u64 * WORD_BYTES;
    check(bytes)?;
    let mut words = Vec::new();
    words
        .try_reserve_exact(len)
        .map_err(|_| short(bytes, None))?;
    if len < MANY {
        words.resize(len, 0);
    } else {
        huge_pages::advise(words.spare_capacity_mut());
        parallel::extend_with_zeros(&mut words, len);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "state x = [for i in 0..10: 0.0]\nstate y = 0\nstep { y += 1 }\n\
                         output a = x[0]\noutput b = vec3(1.0, 2.0, 3.0)\n";

    /// Bytes, the parts, and the agents that would fit.
    type Refused = (u64, Vec<(&'static str, u64)>, Option<u32>);

    fn refused(need: &Need, available: u64) -> Option<Refused> {
        match need.check_against(available) {
            Ok(()) => None,
            Err(Error::HostMemory {
                bytes,
                parts,
                most_agents,
                ..
            }) => Some((bytes, parts, most_agents)),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn outputs_step_counts_and_states_are_counted() {
        let manifest = sim_compiler::compile(MODEL).expect("it compiles").manifest;
        let mut need = Need::new(1_000_000);
        need.fixed("work space", 5_000_000);
        need.results(&manifest, Keep::ALL, 1);
        // 4 words of outputs, 1 of steps, 11 of states.
        assert_eq!(need.bytes(), 69_000_000);
        assert_eq!(refused(&need, 73_000_000), None);
        let (bytes, parts, most) = refused(&need, 60_000_000).expect("too little");
        assert_eq!(bytes, 69_000_000);
        let expected = [
            ("work space", 5_000_000),
            ("outputs", 16_000_000),
            ("step counts", 4_000_000),
            ("states", 44_000_000),
        ];
        assert_eq!(parts, expected);
        // 57 MB less 5, over 64 bytes an agent.
        assert_eq!(most, Some(810_000));
        assert_eq!(refused(&need, 1_000).expect("too little").2, None);
    }

    #[test]
    fn samples_are_counted_and_said_to_be_most() {
        let model = "state x = 0.0\nstep { x += 1.0 }\nrecord x every 5\n\
                     observe bins = histogram(x, 0.0, 1.0, 100) every 10\noutput x\n";
        let manifest = sim_compiler::compile(model).expect("it compiles").manifest;
        let mut need = Need::new(1_000_000);
        need.series(&manifest, 100, 7_813, 1);
        // 21 samples of x, 11 of what the bins count, and 11 times 100 bins.
        assert_eq!(need.bytes(), 4 * (32 * 1_000_000 + 1_100));
        let short = need.check_against(100_000_000).expect_err("too little");
        let help = short.help().expect("a way out");
        assert!(
            help.starts_with("sample less often, by a larger `every`"),
            "{help}"
        );
        let mut need = Need::new(1_000_000);
        need.results(&manifest, Keep::ALL, 1);
        let short = need.check_against(1_000_000).expect_err("too little");
        let help = short.help().expect("a way out");
        assert!(help.starts_with("run at most"), "{help}");
    }

    #[test]
    fn several_runs_are_counted_as_far_as_they_are_kept() {
        let manifest = sim_compiler::compile(MODEL).expect("it compiles").manifest;
        let bytes = |outputs, states, runs| {
            let mut need = Need::new(10);
            need.results(
                &manifest,
                Keep {
                    outputs,
                    states,
                    steps: true,
                },
                runs,
            );
            need.bytes()
        };
        assert_eq!(bytes(true, true, 3), 3 * bytes(true, true, 1));
        assert_eq!(bytes(false, false, 3), bytes(false, false, 1));
        assert_eq!(bytes(false, true, 3) - bytes(false, false, 3), 3 * 440);
    }

    #[test]
    fn sums_beyond_all_numbers_are_refused() {
        let mut need = Need::new(u32::MAX);
        need.each("outputs", u64::MAX / 4);
        need.each("states", u64::MAX / 4);
        assert_eq!(need.bytes(), u64::MAX);
        assert_eq!(rounded(123_456), Some(120_000));
        assert_eq!(rounded(7), Some(7));
        assert_eq!(rounded(0), None);
    }
}
