//! The limits that WGSL guarantees, measured on the IR: whoever accepts models checks here before a kernel is
//! written.

use crate::{
    ir::{Block, ExprId, Len, Program, Stmt, VarId, VarMap, each_statement},
    kernel::profile::ARRAY_BYTES,
    manifest::header,
    value::VEC4_WORDS,
};

/// Bytes of function-scope variables that WGSL guarantees: 8,192, less those that the kernel itself declares.
pub(super) const FUNCTION_BYTES: u32 = 8_192 - 256;

/// Bytes of private module-scope variables that WGSL guarantees.
const PRIVATE_BYTES: u32 = 8_192;

/// Nesting depth of blocks, at most. WGSL guarantees 127 levels of braces; validators count a `for` or `if`
/// twice, and also a chain of `else if` and the depth of an expression.
pub const NESTING_MAX: u32 = 40;

/// Members of the uniform block, at most.
pub const MEMBERS_MAX: u32 = 1_023;

/// What a program takes of what is limited.
#[derive(Clone, Debug)]
pub struct Demand {
    /// The variables of an agent.
    pub variables: Placement,
    /// The nesting depth of the model's blocks, and the condition or first bound of the innermost; none
    /// without any block. The arms of an `else if` chain count as one level. Up to [`NESTING_MAX`] are safe.
    pub deepest: Option<(u32, ExprId)>,
    /// Members of the uniform block, its header and its padding included.
    pub members: u32,
}

/// Measures a program.
pub fn demand(program: &Program) -> Demand {
    let functions = program.functions.iter().map(|function| &function.body);
    let blocks = program.agent_blocks().chain(functions);
    Demand {
        variables: place(program, ARRAY_BYTES),
        deepest: blocks.filter_map(depth).max_by_key(|(levels, _)| *levels),
        members: members(program),
    }
}

/// Where the kernel's variables of an agent live.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// Bytes of all of them, arrays of constants included.
    pub bytes: u64,
    /// Those that must be private module-scope variables, since the function's limit is used up.
    pub private: Vec<VarId>,
    /// Arrays that must be in storage, since both limits are used up: those of an agent.
    pub spilled: Vec<VarId>,
    /// And those of constants, which all agents share.
    pub tables: Vec<VarId>,
    /// Values that fit nowhere: a model with any of them exceeds what WGSL guarantees.
    pub unplaced: Vec<VarId>,
}

impl Placement {
    /// Whether all arrays are in the memory of an invocation.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.spilled.is_empty() && self.tables.is_empty()
    }

    /// Words of all arrays of an agent that are in storage.
    pub fn spilled_words(&self, program: &Program) -> u64 {
        let words = |var: &VarId| words(program, *var);
        self.spilled.iter().map(words).sum()
    }
}

/// Words of a variable in storage, where a `vec3` has three.
pub(crate) fn words(program: &Program, var: VarId) -> u64 {
    let var = &program[var];
    let count = match var.len {
        Len::One => 1,
        Len::Fixed(n) | Len::Open { stride: n } => u64::from(n),
    };
    count * u64::from(var.ty.words())
}

/// Places the states, the locals, and the outputs that are read: values first, then arrays, in order.
/// Arrays of constants are private if they fit. At most `array_bytes` bytes of arrays are in memory.
pub(crate) fn place(program: &Program, array_bytes: u32) -> Placement {
    let mut placement = Placement::default();
    let mut function = Region(FUNCTION_BYTES.into());
    let mut private = Region(PRIVATE_BYTES.into());
    let mut arrays_left = Region(array_bytes.into());
    for (var, _) in &program.constants {
        let size = bytes(program, *var);
        placement.bytes += size;
        if arrays_left.has(size) && private.take(size) {
            arrays_left.take(size);
        } else {
            placement.tables.push(*var);
        }
    }
    let (values, arrays): (Vec<_>, Vec<_>) = variables(program)
        .into_iter()
        .partition(|&var| program[var].len == Len::One);
    for var in values.into_iter().chain(arrays) {
        let size = bytes(program, var);
        placement.bytes += size;
        let is_array = program[var].len != Len::One;
        let may = !is_array || arrays_left.has(size);
        let is_private = !(may && function.take(size));
        if is_private && !(may && private.take(size)) {
            match is_array {
                true => placement.spilled.push(var),
                false => placement.unplaced.push(var),
            }
            continue;
        }
        if is_private {
            placement.private.push(var);
        }
        if is_array {
            arrays_left.take(size);
        }
    }
    placement
}

/// Bytes of memory that are left.
struct Region(u64);

impl Region {
    fn has(&self, bytes: u64) -> bool {
        bytes <= self.0
    }

    /// Takes bytes, if there are as many.
    fn take(&mut self, bytes: u64) -> bool {
        let has = self.has(bytes);
        if has {
            self.0 -= bytes;
        }
        has
    }
}

fn depth(block: &Block) -> Option<(u32, ExprId)> {
    let inside = |block, head| {
        let inner = stacker::maybe_grow(32 << 10, 1 << 20, || depth(block));
        inner.map_or((1, head), |(levels, head)| (levels + 1, head))
    };
    block
        .iter()
        .filter_map(|stmt| match stmt {
            Stmt::For { start, body, .. } => Some(inside(body, *start)),
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                let (mut levels, head) = inside(reject, *condition);
                // A chain continues at the level where it began.
                levels -= u32::from(matches!(reject.as_slice(), [Stmt::If { .. }]));
                let first = inside(accept, *condition);
                Some(if levels > first.0 {
                    (levels, head)
                } else {
                    first
                })
            }
            Stmt::Let { .. }
            | Stmt::Var { .. }
            | Stmt::Assign { .. }
            | Stmt::AssignElement { .. }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Stop
            | Stmt::Return(_) => None,
        })
        .max_by_key(|(levels, _)| *levels)
}

fn members(program: &Program) -> u32 {
    let rows = program
        .data
        .iter()
        .filter(|&&table| matches!(program[table].len, Len::Open { .. }))
        .count() as u32;
    let params = program.params.len() as u32;
    let mut next = header::END + rows;
    let mut padding = 0;
    for &param in &program.params {
        let var = &program[param];
        padding += var.word.saturating_sub(next);
        let words = var.ty.words();
        next = var.word
            + match var.len {
                Len::One => words,
                Len::Fixed(n) | Len::Open { stride: n } => (n * words).next_multiple_of(VEC4_WORDS),
            };
    }
    // No member of the header is smaller than a word.
    header::END + rows + params + padding
}

fn variables(program: &Program) -> Vec<VarId> {
    let mut vars = program.states.clone();
    vars.extend(program.world_states.iter().chain(&program.world_outputs));
    for sample in &program.samples {
        vars.extend(sample.records.iter().chain(&sample.world_records));
    }
    let mut read = VarMap::filled(false, program.vars.len());
    for block in program.agent_blocks() {
        each_statement(block, &mut |stmt| {
            if let Stmt::Var { var, .. } = stmt {
                vars.push(*var);
            }
            for var in program
                .nodes_of(stmt)
                .filter_map(|id| program[id].variable())
            {
                read[var] = true;
            }
        });
    }
    // An output that is never read is stored to its buffer at once.
    vars.extend(program.outputs.iter().filter(|var| read[**var]));
    vars
}

/// Bytes of a variable in WGSL.
fn bytes(program: &Program, var: VarId) -> u64 {
    let var = &program[var];
    let element = u64::from(var.ty.bytes());
    match var.len {
        Len::One => element,
        Len::Fixed(n) => u64::from(n) * element,
        // A table is in storage.
        Len::Open { .. } => 0,
    }
}
