//! How many iterations the loops inside a step take at most: software drivers silently end loops after a
//! limit, and the runtime must stay below it.

use super::{Amount, Costs};
use crate::ir::{ExprId, Program, Stmt, any_statement};

/// Iterations; none where there are more than can be counted.
#[derive(Clone, Copy)]
struct Iterations(Option<u64>);

impl Default for Iterations {
    fn default() -> Self {
        Iterations(Some(0))
    }
}

impl Amount for Iterations {
    type Setting = ();

    fn node((): &(), _: &Program, _: ExprId) -> Iterations {
        Iterations::default()
    }

    fn and(self, other: Iterations) -> Iterations {
        Iterations(self.0.zip(other.0).and_then(|(a, b)| a.checked_add(b)))
    }

    fn repeated(self, iterations: Option<u64>) -> Option<Iterations> {
        let each = self.0.and_then(|inner| inner.checked_add(1));
        Some(Iterations(each?.checked_mul(iterations?)))
    }
}

/// The most iterations of `init` and `finish` or of one step, whichever has more; none if a loop's bounds
/// depend on the run.
pub fn inner_iterations(program: &Program) -> Option<u64> {
    let costs = Costs::<Iterations>::new(program, ());
    let sum = |blocks: &mut dyn Iterator<Item = &Vec<Stmt>>| {
        let mut all = Iterations::default();
        for block in blocks {
            all = all.and(costs.block(program, block)?);
        }
        all.0
    };
    let ends = program.ends.iter().map(|phase| &phase.body);
    let once = sum(&mut [&program.init, &program.finish].into_iter().chain(ends))?;
    let sampled = program.samples.iter().map(|sample| &sample.body);
    let step = (program.phases.iter().map(|phase| &phase.body)).chain(sampled);
    // In kernels of worlds, a loop of one iteration is what `stop` leaves.
    let stops = |block: &&Vec<Stmt>| any_statement(block, &|stmt| matches!(stmt, Stmt::Stop));
    let left = match program.knows_worlds() {
        true => step.clone().filter(stops).count() as u64,
        false => 0,
    };
    Some(once.max(sum(&mut { step })?.checked_add(left)?))
}
