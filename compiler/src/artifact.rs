//! What compiling a model gives: everything that a runtime needs, and nothing of the source's form.

use crate::{
    Math, Options, emit, ir,
    launch_checks::LaunchChecks,
    manifest::Manifest,
    passes::{self, reassociate::Bound},
    schedule::{self, Kernel, Load, Schedule},
};
use std::borrow::Cow;

/// A compiled model.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// Names, types, shapes and places of everything that goes in or comes out.
    pub manifest: Manifest,
    /// The program before any pass, from which kernels with other schedules are made.
    pub lowered: ir::Program,
    /// The optimised program: what the CPU backends run.
    pub program: ir::Program,
    /// What a launch must hold for every draw to have a distribution.
    pub launch_checks: Option<LaunchChecks>,
    /// A kernel of the caller's own, which runs as it is in place of the compiler's: one agent an invocation.
    pub own_kernel: Option<String>,
    /// How it was compiled.
    pub options: Options,
}

impl Artifact {
    /// The text of the kernel for a host that knows no more than the manifest: the caller's own, or that of
    /// [`Schedule::default`], which is written at each call.
    pub fn wgsl(&self) -> String {
        match &self.own_kernel {
            Some(own) => own.clone(),
            None => self.kernel(&Schedule::default()).wgsl,
        }
    }

    /// The kernel under a schedule. What the model has no use for is left out: the kernel says what it has.
    pub fn kernel(&self, schedule: &Schedule) -> Kernel {
        let program = self.shared(schedule.lanes, schedule.subgroup);
        let changed = match schedule.reassociate && self.may_reassociate() {
            true => {
                let bound = match schedule.load {
                    Load::Idle => Bound::Idle,
                    Load::Light => Bound::Latency,
                    Load::Full if self.waits_for_special_functions(&program) => Bound::Special,
                    Load::Full => Bound::Issue,
                };
                passes::reassociate::reassociate(&program, bound, schedule.has_infinities)
            }
            false => None,
        };
        let Some((program, changes)) = changed else {
            return emit::wgsl(&program, &self.manifest, &self.options, schedule);
        };
        let mut kernel = emit::wgsl(&program, &self.manifest, &self.options, schedule);
        kernel.reassociated = true;
        kernel.choices.insert(0, schedule::reassociated(changes));
        kernel
    }

    /// Is the unit for special functions the busiest? On NVIDIA's devices it takes an instruction in eight cycles
    /// where others take one in each.
    fn waits_for_special_functions(&self, program: &ir::Program) -> bool {
        let cost = ir::cost::cost(program, self.options.generator);
        cost.is_some_and(|cost| 8 * cost.step.special > cost.step.total())
    }

    /// May floats be rounded in another order than the model says?
    pub(crate) fn may_reassociate(&self) -> bool {
        self.options.optimise && self.options.math == Math::Fast
    }

    /// The optimised program for so many lanes per agent, as far as it can be shared among them: where they are more
    /// than a subgroup has, they wait for one another at barriers.
    pub(crate) fn shared(&self, lanes: u32, subgroup: u32) -> Cow<'_, ir::Program> {
        if lanes > 1 {
            let mut program = self.program.clone();
            if passes::lanes::share_time(&mut program, lanes) {
                return Cow::Owned(program);
            }
            let mut program = self.lowered.clone();
            if passes::lanes::share(&mut program, lanes, subgroup) {
                if self.options.optimise {
                    passes::optimise(&mut program);
                }
                if lanes <= subgroup || passes::lanes::allows_barriers(&program) {
                    return Cow::Owned(program);
                }
            }
        }
        Cow::Borrowed(&self.program)
    }

    /// Where the expressions of the model went in [`Artifact::wgsl`].
    pub fn origins(&self) -> Vec<emit::Origin> {
        emit::origins(&self.program, &self.manifest, &self.options)
    }
}
