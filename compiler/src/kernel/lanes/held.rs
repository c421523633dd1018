//! What a lane holds in registers for the whole run, and what it must read again in every step.

use super::{Laid, SHUFFLES};
use crate::{
    ir::{
        Block, Expr, ExprId, Stmt, VarKind,
        uniformity::{Tracking, Uniformity},
    },
    kernel::{
        limits::words,
        usage::{Usage, usage},
    },
};

/// What a lane holds for the whole run, in words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// Inputs at known places.
    pub(crate) inputs: u32,
    /// States.
    states: u32,
    /// Names for what does not change from step to step, elements of tables among them.
    names: u32,
    /// Are inputs read in steps, too, at places that are not known?
    loads_inputs: bool,
    /// Arrays whose elements are selected in steps by what is not known: they are in memory.
    indexed: u32,
    /// Do lanes read different elements of constants and tables in loops of steps? They have no cache line in
    /// common.
    scatters: bool,
}

impl Held {
    /// Do so many registers hold all inputs?
    pub(crate) fn has_inputs(&self, registers: u32) -> bool {
        self.inputs <= registers && !self.loads_inputs
    }

    /// Are arrays in memory that are larger than this?
    pub(crate) fn has_arrays_in_memory(&self, registers: u32) -> bool {
        self.indexed > registers
    }

    /// Do so many registers hold all inputs and, twice, all states? A step has old states beside new ones.
    pub(crate) fn has_all(&self, registers: u32) -> bool {
        self.has_inputs(registers)
            && self.indexed == 0
            && self.inputs + 2 * self.states <= registers
    }

    /// Do so many registers hold the elements of constants and tables that are a lane's own, or half of them?
    /// `benchmarks/large/shared.sim` has 312 with 16 lanes, for 170 registers, and took a sixth of the time
    /// of one lane (4,096 agents on a H100); with 8 lanes it has 624, and took 1.5 times that time.
    pub(crate) fn has_tables(&self, registers: u32) -> bool {
        !self.scatters && self.names <= 2 * registers
    }
}

impl Laid<'_> {
    /// What a lane holds.
    pub(crate) fn held(&self) -> Held {
        let usage = usage(&self.program, &self.layout);
        let program = &*self.program;
        let inputs = usage.inputs.keys();
        let states = program.states.iter();
        let mut held = Held {
            inputs: inputs.map(|(_, var, _)| program[*var].ty.words()).sum(),
            states: states.map(|state| words(program, *state) as u32).sum(),
            names: program.prologue.len() as u32,
            loads_inputs: false,
            indexed: 0,
            scatters: SHUFFLES && self.scatters(&usage),
        };
        for var in program.var_ids().filter(|var| usage.dynamic_in_steps[*var]) {
            if program[var].kind == VarKind::Input {
                held.loads_inputs = true;
            } else if matches!(program[var].kind, VarKind::State | VarKind::Local) {
                held.indexed += words(program, var) as u32;
            }
        }
        held
    }

    /// Do lanes read different elements of constants and tables in loops of steps?
    fn scatters(&self, usage: &Usage) -> bool {
        let program = &*self.program;
        let is_part = |var| self.layout.part(program, var).is_some();
        let uniformity = Uniformity::with(program, Tracking::Names, is_part);
        let scatters = |id: ExprId| {
            let Expr::Element { array, index } = program[id] else {
                return false;
            };
            // Without shuffles, neighbours read neighbouring columns of a table.
            let is_table = program[array].kind == VarKind::Constant
                || program[array].kind == VarKind::Data && usage.shuffles;
            is_table && uniformity.of(index).by_lane
        };
        let mut found = false;
        for phase in &program.phases {
            for body in loops(&phase.body) {
                program.each_node_of(body, &mut |id| found |= scatters(id));
            }
        }
        found
    }
}

/// The bodies of the loops of a block, without those in them.
fn loops(block: &Block) -> Vec<&Block> {
    let mut found = Vec::new();
    for stmt in block {
        if let Stmt::For { body, .. } = stmt {
            found.push(body);
        } else {
            found.extend(stmt.blocks().flat_map(loops));
        }
    }
    found
}
