//! The check of step counts on the device, for results of many agents: what is not read back takes no time on
//! the bus, and no memory of the host.

use super::{
    device::{OpenDevice, Task},
    entry_point::{Binding, Dispatch, EntryPoint, READ, WRITE, entry},
    kernel::binding,
    results::Fault,
};
use crate::error::Error;
use sim_compiler::value::WORD_BYTES;
use std::{cell::Cell, sync::Arc};

const TEXT: &str = include_str!("step_check/check.wgsl");
/// Invocations of a workgroup.
const LANES: u32 = 256;
/// Agents that an invocation looks at, at least.
const EACH: u32 = 16;
/// Workgroups that fill a large device.
const GROUPS: u32 = 2048;
const CHECK: u32 = 5;
/// The binding of the step counts is that of a model's kernel.
const BINDINGS: [Binding; 2] = [(binding::PROGRESS, READ), (CHECK, WRITE)];
/// Words of a check: the agents, their steps, the first agent with others, and its progress word.
const WORDS: usize = 4;

/// The compiled kernels.
pub(crate) struct StepChecker {
    find: EntryPoint,
    look: EntryPoint,
}

/// The check of the results of one run.
pub(crate) struct StepCheck {
    checker: Arc<StepChecker>,
    buffers: wgpu::BindGroup,
    agents: u32,
    /// What is read back.
    pub(crate) report: wgpu::Buffer,
    /// The agents and steps that it has, unless it has found a fault.
    begun: Cell<Option<[u32; 2]>>,
}

impl StepChecker {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn create(open: &OpenDevice) -> Result<StepChecker, Error> {
        let module = open.guarded(Task::new("compiling the check of step counts"), || {
            (open.device).create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("step check"),
                source: wgpu::ShaderSource::Wgsl(TEXT.into()),
            })
        })?;
        let compile = |name| EntryPoint::compile(open, &module, name, BINDINGS.to_vec(), None);
        Ok(StepChecker {
            find: compile("find")?,
            look: compile("look")?,
        })
    }
}

impl StepCheck {
    /// Bytes that are read back instead of step counts.
    pub(crate) const BYTES: u64 = WORDS as u64 * WORD_BYTES;

    /// Allocates the buffer of a check of so many agents; `results` has the binding of their step counts.
    ///
    /// # Errors
    /// [`Error::GpuMemory`]
    pub(crate) fn create<'a>(
        open: &OpenDevice,
        checker: &Arc<StepChecker>,
        results: impl Iterator<Item = wgpu::BindGroupEntry<'a>>,
        agents: u32,
    ) -> Result<StepCheck, Error> {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::COPY_SRC;
        let report = open.buffer("allocating the check of step counts", Self::BYTES, usage)?;
        let mut buffers: Vec<_> = results.collect();
        buffers.push(entry(CHECK, &report));
        Ok(StepCheck {
            checker: Arc::clone(checker),
            buffers: checker.find.bind(open, &buffers)?,
            agents,
            report,
            begun: Cell::new(None),
        })
    }

    /// Begins a check that all of the first `agents` agents have run so many steps.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn begin(&self, open: &OpenDevice, agents: u32, steps: u32) -> Result<(), Error> {
        let begun = Some([agents, steps]);
        if self.begun.replace(begun) == begun {
            return Ok(());
        }
        let words: [u32; WORDS] = [agents, steps, 0, 0];
        open.write("checking step counts", &self.report, 0, &words)
    }

    /// The dispatches, in their order.
    pub(crate) fn dispatches(&self) -> [Dispatch<'_>; 2] {
        let groups = self.agents.div_ceil(LANES * EACH).clamp(1, GROUPS);
        let StepChecker { find, look } = &*self.checker;
        [(find, groups), (look, 1)].map(|(entry_point, groups)| Dispatch {
            entry_point,
            buffers: &self.buffers,
            offset: None,
            workgroups: (groups, 1),
            points: 1,
        })
    }

    /// Reads the report at the front of `words`, and removes it from them.
    ///
    /// # Errors
    /// The first agent with a wrong step count.
    pub(crate) fn read(&self, words: &mut &[u32]) -> Result<(), Fault> {
        let (report, others) = words.split_at(WORDS);
        *words = others;
        match report[2] {
            0 => Ok(()),
            wrong => {
                self.begun.set(None);
                Err(Fault {
                    agent: !wrong,
                    word: report[3],
                })
            }
        }
    }
}
