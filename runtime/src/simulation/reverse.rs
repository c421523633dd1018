//! Derivatives by reverse mode: runs the programs of [`gradient::Reverse`] from the last step to the first.
//!
//! The states before every √steps-th step are kept as the model runs. From the last of these on, the
//! states before each step of the segment are computed once more and kept, and the steps are taken backwards;
//! then the same for the segment before it. So about `2 √steps` states per agent are in memory, and the
//! model runs twice forward and once backwards. Each step is a part of a run of its own, with its number, so
//! that it draws what it drew.

use super::{Simulation, execute::Asked};
use crate::{
    control::Control, cut::Saved, error::Error, memory, run::Run, snapshot::Snapshot,
    variation::Variation,
};
use sim_compiler::{
    Artifact,
    gradient::{By, Carried, Reverse},
    ir::interpret::Progress,
    value::WORD_BYTES,
};
use std::cell::Cell;

/// What a sweep backwards begins with: the value of each agent whose derivatives are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Its output: the number in [`Reverse::wanted`].
    pub output: usize,
    /// Its place among the values that an agent has of the output, row by row.
    pub place: usize,
}

/// The derivatives that sweeps backwards give.
#[derive(Debug)]
pub struct Reversed {
    /// The run of the model; behind its outputs stand those that the sweeps begin with.
    pub run: Run,
    /// By seed, by float of [`Reverse::by`] in their order: of each agent, the derivative of its value by the
    /// param, or by its own input. The derivative of a sum over agents by a param is the sum of these.
    pub derivatives: Vec<Vec<Vec<f32>>>,
}

/// By word of a row: that of all agents.
type Columns = Vec<Vec<u32>>;

/// A sweep on its way back.
struct Sweep {
    /// The states of the program of a step that are not the model's: adjoints, sums, steps that were run.
    columns: Columns,
    /// By float: the derivatives so far, of each agent.
    sums: Vec<Vec<f64>>,
}

impl Simulation {
    /// The derivatives that `programs`, which were made of this simulation's model, compute for the values of
    /// this simulation: for each seed by all floats that they were made for.
    ///
    /// # Errors
    /// Any [`Error`] of a run.
    pub fn reverse(
        &self,
        programs: &Reverse,
        seeds: &[Seed],
        control: &Control<'_>,
    ) -> Result<Reversed, Error> {
        let mut compiled = None;
        self.reverse_with(programs, &mut compiled, seeds, control)
    }

    /// [`Simulation::reverse`] with the backends that an earlier call left in `compiled`, which must have
    /// been for the same programs and options. Values may differ.
    pub(super) fn reverse_with(
        &self,
        programs: &Reverse,
        compiled: &mut Option<Compiled>,
        seeds: &[Seed],
        control: &Control<'_>,
    ) -> Result<Reversed, Error> {
        let mut back = Back::new(self, programs, compiled.take(), seeds.len())?;
        let steps = back.steps;
        let progress = Progressed::of(&back, seeds.len(), control);
        let control = &Control {
            progress: None,
            ..*control
        };
        let segment = (f64::from(steps).sqrt().ceil() as u32).max(1);
        let mut states = back.compiled.forward.begin()?;
        let mut kept = vec![states.saved.clone()];
        for step in (segment..steps).step_by(segment as usize) {
            back.compiled.forward.advance(&mut states, step, control)?;
            progress.add(segment);
            kept.push(states.saved.clone());
        }
        let last = states.saved;
        let mut found = None;
        let mut sweeps = Vec::new();
        for seed in seeds {
            let (run, sweep) = back.end(*seed, &last, control)?;
            sweeps.push(sweep);
            found.get_or_insert(run);
        }
        let run = match found {
            Some(run) => run,
            None => back.compiled.forward.run_with(control)?,
        };
        if !programs.carried.is_empty() {
            for from in kept.iter().rev() {
                let until = (from.step + segment).min(steps);
                back.segment(from, until, &mut sweeps, control)?;
                progress.add((until - from.step) * (1 + seeds.len() as u32));
            }
            for sweep in &mut sweeps {
                back.birth(sweep, control)?;
            }
        }
        let to_single = |column: Vec<f64>| column.into_iter().map(|sum| sum as f32).collect();
        *compiled = Some(back.compiled);
        let of_sweep = |sweep: Sweep| sweep.sums.into_iter().map(to_single).collect();
        Ok(Reversed {
            run,
            derivatives: sweeps.into_iter().map(of_sweep).collect(),
        })
    }

    /// Runs a part of the run: the steps behind `saved`, up to `until`, exclusive. If that is before the last
    /// step, gives what it left.
    fn part_from(
        &self,
        saved: Saved,
        until: u32,
        control: &Control<'_>,
    ) -> Result<(Option<Saved>, Option<Run>), Error> {
        let (_, identity) = self.identified()?;
        let mut snapshot = Snapshot::begin(identity);
        snapshot.saved = saved;
        let whole = [Variation::new()];
        let asked = Asked::part(&whole, &snapshot, until, control);
        let mut found = None;
        self.run_asked(asked, &mut |number, mut raw, reports| {
            let saved = raw.saved.take();
            let run = saved.is_none().then(|| reports.run(number, raw));
            found = Some((saved, run));
        })?;
        found.ok_or(Error::Cancelled)
    }

    /// A part that ends before the last step.
    fn cut_from(&self, saved: Saved, until: u32, control: &Control<'_>) -> Result<Saved, Error> {
        let (saved, _) = self.part_from(saved, until, control)?;
        Ok(saved.expect("the part is cut"))
    }
}

/// The progress of all sweeps together.
struct Progressed<'a> {
    control: &'a Control<'a>,
    agents: u64,
    done: Cell<u64>,
    total: u64,
}

impl<'a> Progressed<'a> {
    fn of(back: &Back<'_>, sweeps: usize, control: &'a Control<'a>) -> Progressed<'a> {
        let agents = u64::from(back.agents);
        Progressed {
            control,
            agents,
            done: Cell::new(0),
            // Forward twice, and backwards.
            total: agents * u64::from(back.steps) * (2 + sweeps as u64),
        }
    }

    /// Adds steps of all agents.
    fn add(&self, steps: u32) {
        self.done
            .set(self.done.get() + self.agents * u64::from(steps));
        self.control.report(self.done.get(), self.total);
    }
}

/// The programs as simulations, with the backends that their runs leave for the runs after them.
#[derive(Debug)]
pub(super) struct Compiled {
    forward: Simulation,
    step: Simulation,
    birth: Simulation,
}

impl Compiled {
    /// With no backend yet.
    fn new(programs: &Reverse) -> Compiled {
        let simulation = |artifact: &Artifact| Simulation::from_artifact(artifact.clone());
        Compiled {
            forward: simulation(&programs.forward),
            step: simulation(&programs.step),
            birth: simulation(&programs.birth),
        }
    }

    /// Takes over the values and options of the model. Those backwards have a step more than its run, so that
    /// no part of theirs is the last one.
    fn set(&mut self, model: &Simulation, steps: u32) {
        let all = [
            (&mut self.forward, 0),
            (&mut self.step, 1),
            (&mut self.birth, 1),
        ];
        for (simulation, more_steps) in all {
            simulation.set_as(model);
            simulation.settings.steps = Some(steps + more_steps);
        }
    }
}

/// The programs on their way back.
struct Back<'a> {
    programs: &'a Reverse,
    compiled: Compiled,
    agents: u32,
    steps: u32,
}

impl<'a> Back<'a> {
    fn new(
        model: &Simulation,
        programs: &'a Reverse,
        compiled: Option<Compiled>,
        sweeps: usize,
    ) -> Result<Back<'a>, Error> {
        let (launch, _) = model.identified()?;
        let mut compiled = compiled.unwrap_or_else(|| Compiled::new(programs));
        compiled.set(model, launch.steps);
        let mut back = Back {
            programs,
            compiled,
            agents: launch.agents,
            steps: launch.steps,
        };
        let zeros = |words: u32| vec![0.0_f32; words as usize * launch.agents as usize];
        for wanted in &programs.wanted {
            (back.compiled.forward).set_input(&wanted.seed, zeros(wanted.field.values()))?;
        }
        for Carried { input, words, .. } in &programs.carried {
            back.compiled.step.set_input(input, zeros(*words))?;
            back.compiled.birth.set_input(input, zeros(*words))?;
        }
        // States that are kept, those of a step on its way, and the sums of each sweep, in `f64`.
        let own = u64::from(programs.forward.manifest.state_words);
        let kept = 2 * (f64::from(back.steps).sqrt().ceil() as u64 + 1) * own;
        let of_step = u64::from(programs.step.manifest.state_words);
        let floats: u64 = programs
            .by
            .iter()
            .map(|by| u64::from(by.field.values()))
            .sum();
        let words = kept + 3 * of_step + sweeps as u64 * (of_step - own + 2 * floats);
        let bytes = words * WORD_BYTES * u64::from(back.agents);
        memory::check(bytes)?;
        Ok(back)
    }

    /// The words of a row of the model's states.
    fn own_words(&self) -> usize {
        self.programs.forward.manifest.state_words as usize
    }

    /// The run's last steps and `finish`: the adjoints of the last states.
    fn end(
        &mut self,
        seed: Seed,
        last: &Saved,
        control: &Control<'_>,
    ) -> Result<(Run, Sweep), Error> {
        for (number, wanted) in self.programs.wanted.iter().enumerate() {
            let values = wanted.field.values() as usize;
            let mut row = vec![0.0_f32; values];
            if number == seed.output {
                row[seed.place] = 1.0;
            }
            let rows = row.repeat(self.agents as usize);
            self.compiled.forward.set_input(&wanted.seed, rows)?;
        }
        let (_, run) = self
            .compiled
            .forward
            .part_from(last.clone(), self.steps, control)?;
        let run = run.expect("the run is at its end");
        let words = self.programs.step.manifest.state_words as usize - self.own_words();
        let mut columns = vec![vec![0; self.agents as usize]; words];
        for carried in &self.programs.carried {
            let output = run.output::<f32>(&carried.output)?;
            let own = self.place(carried.word, carried.words);
            fill(&mut columns[own], output);
        }
        if let Some(ran) = self.programs.ran {
            let own = self.place(ran, 1);
            columns[own.start] = run.steps()?.collect();
        }
        let mut sums = Vec::new();
        for by in &self.programs.by {
            let output = run.output::<f32>(&by.output)?;
            let width = by.field.values() as usize;
            for word in 0..width {
                let column = output.iter().skip(word).step_by(width);
                sums.push(column.map(|value| f64::from(*value)).collect());
            }
        }
        Ok((run, Sweep { columns, sums }))
    }

    /// Where words of the program of a step stand in [`Sweep::columns`].
    fn place(&self, word: u32, words: u32) -> std::ops::Range<usize> {
        let first = word as usize - self.own_words();
        first..first + words as usize
    }

    /// The steps of a segment, the last one first.
    fn segment(
        &mut self,
        from: &Saved,
        until: u32,
        sweeps: &mut [Sweep],
        control: &Control<'_>,
    ) -> Result<(), Error> {
        // The states before each of its steps; those before the first step of all follow from `init`.
        let mut states = vec![from.clone()];
        while let Some(before) = states.last().filter(|state| state.step + 1 < until) {
            let next = before.step + 1;
            states.push(
                self.compiled
                    .forward
                    .cut_from(before.clone(), next, control)?,
            );
        }
        for before in states.into_iter().rev() {
            let step = before.step;
            if step >= self.steps {
                continue;
            }
            for sweep in &mut *sweeps {
                match step {
                    0 => self.first_step(sweep, control)?,
                    _ => self.step(&before, sweep, control)?,
                }
            }
        }
        // So that each number is a sum of few.
        for sweep in sweeps {
            self.collect(sweep, |by| by.step_word);
        }
        Ok(())
    }

    /// One step backwards.
    fn step(&self, before: &Saved, sweep: &mut Sweep, control: &Control<'_>) -> Result<(), Error> {
        let mut states = before.states.clone();
        states.append(&mut sweep.columns);
        let progress = Progress {
            steps: before.step,
            stopped: false,
        };
        let saved = Saved {
            step: before.step,
            states,
            progress: vec![progress.word(); self.agents as usize],
            ..Saved::default()
        };
        let mut saved = self
            .compiled
            .step
            .cut_from(saved, before.step + 1, control)?;
        sweep.columns = saved.states.split_off(self.own_words());
        Ok(())
    }

    /// The first step backwards, whose states follow from `init`.
    fn first_step(&mut self, sweep: &mut Sweep, control: &Control<'_>) -> Result<(), Error> {
        self.collect(sweep, |by| by.step_word);
        for carried in &self.programs.carried {
            let values = rows(&sweep.columns[self.place(carried.word, carried.words)]);
            self.compiled.step.set_input(&carried.input, values)?;
        }
        let mut saved = self.compiled.step.cut_from(Saved::default(), 1, control)?;
        sweep.columns = saved.states.split_off(self.own_words());
        Ok(())
    }

    /// `init` backwards.
    fn birth(&mut self, sweep: &mut Sweep, control: &Control<'_>) -> Result<(), Error> {
        for carried in &self.programs.carried {
            let values = rows(&sweep.columns[self.place(carried.word, carried.words)]);
            self.compiled.birth.set_input(&carried.input, values)?;
        }
        let mut saved = self.compiled.birth.cut_from(Saved::default(), 0, control)?;
        sweep.columns = saved.states.split_off(self.own_words());
        self.collect(sweep, |by| by.birth_word);
        Ok(())
    }

    /// Takes the sums of a program to those of the sweep.
    fn collect(&self, sweep: &mut Sweep, word: impl Fn(&By) -> u32) {
        let mut float = 0;
        for by in &self.programs.by {
            let own = self.place(word(by), by.field.values());
            for column in &mut sweep.columns[own] {
                for (sum, word) in sweep.sums[float].iter_mut().zip(column.iter_mut()) {
                    *sum += f64::from(f32::from_bits(std::mem::take(word)));
                }
                float += 1;
            }
        }
    }
}

/// Columns of the rows of an output.
fn fill(columns: &mut [Vec<u32>], rows: &[f32]) {
    let width = columns.len();
    for (word, column) in columns.iter_mut().enumerate() {
        let values = rows.iter().skip(word).step_by(width);
        *column = values.map(|value| value.to_bits()).collect();
    }
}

/// Rows of columns, as an input takes them.
fn rows(columns: &[Vec<u32>]) -> Vec<f32> {
    let agents = columns.first().map_or(0, Vec::len);
    let row = |agent: usize| {
        columns
            .iter()
            .map(move |column| f32::from_bits(column[agent]))
    };
    (0..agents).flat_map(row).collect()
}
