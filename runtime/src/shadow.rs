//! What rounding does to a run: some of its agents once in `f32` and once in `f64`, with the same draws.

mod compare;

use crate::{
    bind::Launch,
    cancel::cancellable,
    control::Control,
    cpu,
    error::Error,
    walk::{DoubleRun, Group, error, with_lowered},
};
pub use compare::{Compared, Of, Verdict};
use rayon::prelude::*;
use sim_compiler::{
    artifact::Artifact,
    builtin::real::Real,
    ir::interpret::{Fault, Interpreter},
};
use std::sync::atomic::Ordering;

/// A comparison of agents in `f32` with the same agents in `f64`.
#[derive(Clone, Debug)]
pub struct Shadow {
    /// Agents that were compared.
    pub agents: u32,
    /// Worlds that were compared; 0 without worlds.
    pub worlds: u32,
    /// Agents of the run.
    pub population: u32,
    /// Steps of the run.
    pub steps: u32,
    /// Agents that took another way: a comparison of floats, a conversion from one, a condition, a number of
    /// iterations or a stop came out otherwise.
    pub parted: u32,
    /// The first step in which one did, and the step by which half of those that did had; the number of steps
    /// is what comes after the last one.
    pub parted_in: Option<[u32; 2]>,
    /// The outputs, those of worlds behind those of agents; the states of a model without outputs.
    pub compared: Vec<Compared>,
}

impl Shadow {
    /// The gravest verdict.
    pub fn verdict(&self) -> Verdict {
        let verdicts = self.compared.iter().map(|compared| compared.verdict);
        verdicts.max().unwrap_or(Verdict::Equal)
    }
}

/// Runs groups of agents in `f64`.
pub(crate) fn double(
    artifact: &Artifact,
    launch: &Launch,
    groups: &[Group],
    control: Control<'_>,
) -> Result<DoubleRun, Error> {
    let each = |interpreter: &Interpreter<'_>, group: Group, inner: &cpu::Control| {
        let cancelled = || inner.cancel.load(Ordering::Relaxed);
        let mut walk = interpreter.walk::<f64, _>(group.members, cancelled);
        group.begin(&mut walk, &artifact.manifest, launch)?;
        for step in 0..launch.steps {
            if walk.is_over() {
                break;
            }
            walk.step(step)?;
        }
        walk.finish()?;
        let mut run = DoubleRun::empty(&artifact.manifest);
        run.add(group, (&artifact.lowered, launch), &mut walk);
        Ok(run)
    };
    let runs = in_parallel(artifact, launch, groups, control, each)?;
    let mut all = DoubleRun::empty(&artifact.manifest);
    runs.into_iter().for_each(|run| all.append(run));
    Ok(all)
}

/// Runs groups of agents in both types.
pub(crate) fn shadow(
    artifact: &Artifact,
    launch: &Launch,
    groups: &[Group],
    control: Control<'_>,
) -> Result<Shadow, Error> {
    let each = |interpreter: &Interpreter<'_>, group: Group, inner: &cpu::Control| {
        pair(artifact, launch, interpreter, group, inner)
    };
    let pairs = in_parallel(artifact, launch, groups, control, each)?;
    let manifest = &artifact.manifest;
    let (mut single, mut wide) = (DoubleRun::empty(manifest), DoubleRun::empty(manifest));
    let mut parted = Vec::new();
    for pair in pairs {
        single.append(pair.single);
        wide.append(pair.double);
        parted.extend(pair.parted);
    }
    parted.sort_unstable();
    let compared = compare::all(&single, &wide, launch.agents, launch.worlds());
    Ok(Shadow {
        agents: wide.agents.len() as u32,
        worlds: wide.worlds.len() as u32,
        population: launch.agents,
        steps: launch.steps,
        parted: parted.len() as u32,
        parted_in: (!parted.is_empty()).then(|| [parted[0], parted[(parted.len() - 1) / 2]]),
        compared,
    })
}

/// A group in both types, and for each of its agents that took another way, the step in which it did.
struct Pair {
    single: DoubleRun,
    double: DoubleRun,
    parted: Vec<u32>,
}

fn pair(
    artifact: &Artifact,
    launch: &Launch,
    interpreter: &Interpreter<'_>,
    group: Group,
    inner: &cpu::Control,
) -> Result<Pair, Fault> {
    let manifest = &artifact.manifest;
    let cancelled = || inner.cancel.load(Ordering::Relaxed);
    let mut single = interpreter.walk::<f32, _>(group.members, cancelled);
    let mut double = interpreter.walk::<f64, _>(group.members, cancelled);
    let members = single.members();
    let mut parted: Vec<Option<u32>> = vec![None; members];
    group.begin(&mut single, manifest, launch)?;
    group.begin(&mut double, manifest, launch)?;
    let mut steps = 0..launch.steps;
    loop {
        let step = steps
            .next()
            .filter(|_| !(single.is_over() && double.is_over()));
        match step {
            Some(step) => {
                single.step(step)?;
                double.step(step)?;
            }
            None => {
                single.finish()?;
                double.finish()?;
            }
        }
        for (member, parted) in parted.iter_mut().enumerate() {
            let decisions = [single.decisions(member), double.decisions(member)];
            let same =
                decisions[0] == decisions[1] && single.progress(member) == double.progress(member);
            if !same && parted.is_none() {
                *parted = Some(step.unwrap_or(launch.steps));
            }
        }
        if step.is_none() {
            break;
        }
    }
    let mut pair = Pair {
        single: DoubleRun::empty(manifest),
        double: DoubleRun::empty(manifest),
        parted: parted.into_iter().flatten().collect(),
    };
    let of = (&artifact.lowered, launch);
    pair.single.add(group, of, &mut single);
    pair.double.add(group, of, &mut double);
    Ok(pair)
}

/// Runs groups on all cores and returns what each gave, in their order.
fn in_parallel<T: Send>(
    artifact: &Artifact,
    launch: &Launch,
    groups: &[Group],
    control: Control<'_>,
    each: impl Fn(&Interpreter<'_>, Group, &cpu::Control) -> Result<T, Fault> + Sync,
) -> Result<Vec<T>, Error> {
    let agents: u32 = groups.iter().map(|group| group.agents().len() as u32).sum();
    with_lowered(artifact, launch, |interpreter| {
        memory_of::<f64>(interpreter, groups)?;
        let mut results = Ok(Vec::new());
        let all = u64::from(agents) * u64::from(launch.steps);
        cancellable(all, control, |inner| {
            results = (groups.par_iter())
                .map(|&group| {
                    let result = each(interpreter, group, inner)?;
                    let agents = group.agents().len() as u64;
                    let done = agents * u64::from(launch.steps);
                    inner.agent_steps_done.fetch_add(done, Ordering::Relaxed);
                    Ok(result)
                })
                .collect();
            match results {
                Err(Fault::Cancelled) => Err(Error::Cancelled),
                Ok(_) | Err(Fault::Diverged) => Ok(()),
            }
        })?;
        results.map_err(error)
    })?
}

/// Checks that the variables of as many groups as there are threads fit in memory, in both types.
fn memory_of<R: Real>(interpreter: &Interpreter<'_>, groups: &[Group]) -> Result<(), Error> {
    let members = groups
        .first()
        .map_or(1, |group| group.agents().len() as u64);
    let threads = rayon::current_num_threads().min(groups.len()) as u64;
    let each = interpreter.bytes::<R>() + interpreter.bytes::<f32>();
    crate::memory::check(each.saturating_mul(members).saturating_mul(threads))
}

#[cfg(test)]
mod tests;
