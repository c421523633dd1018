//! What WGSL limits in a valid program, measured on the IR: whoever accepts models asks here before a
//! kernel is written.

use super::usage::usage;
use crate::ir::{Block, Len, Program, Stmt, Type, VarId, VarKind};

/// Bytes of function-scope variables that WGSL guarantees: 8,192, less what the kernel declares itself.
const FUNCTION_BYTES: u32 = 8_192 - 256;

/// Bytes of private module-scope variables that WGSL guarantees.
const PRIVATE_BYTES: u32 = 8_192;

/// Blocks within one another, at most. WGSL guarantees 127 levels of braces; validators count a `for` or
/// `if` twice, and a chain of `else if` and the depth of an expression on top.
pub const NESTING_MAX: u32 = 40;

/// Parameters of a function, at most.
pub const PARAMETERS_MAX: u32 = 255;

/// Members of the uniform block, at most.
pub const MEMBERS_MAX: u32 = 1_023;

/// Where the kernel keeps an agent's variables.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// Those that must live in private module-scope variables for want of room in the function.
    pub private: Vec<VarId>,
    /// Those that fit nowhere: a model with any of them is beyond what WGSL guarantees.
    pub unplaced: Vec<VarId>,
}

/// Places the states, the locals, and the outputs that are read: values first, then arrays, in order.
/// Arrays of constants are private anyway.
pub fn place(program: &Program) -> Placement {
    let mut placement = Placement::default();
    let (mut function, mut private) = (FUNCTION_BYTES, PRIVATE_BYTES);
    for (var, _) in &program.constants {
        match private.checked_sub(bytes(program, *var)) {
            Some(rest) => private = rest,
            None => placement.unplaced.push(*var),
        }
    }
    let (values, arrays): (Vec<_>, Vec<_>) = variables(program)
        .into_iter()
        .partition(|&var| program[var].len == Len::One);
    for var in values.into_iter().chain(arrays) {
        let size = bytes(program, var);
        if let Some(rest) = function.checked_sub(size) {
            function = rest;
        } else if let Some(rest) = private.checked_sub(size) {
            private = rest;
            placement.private.push(var);
        } else {
            placement.unplaced.push(var);
        }
    }
    placement
}

/// Bytes of variables that one agent needs while its kernel runs, arrays of constants included. Up to
/// 8,192 always fit; beyond that [`place`] tells.
pub fn private_bytes(program: &Program) -> u32 {
    let constants = program.constants.iter().map(|(var, _)| *var);
    constants
        .chain(variables(program))
        .fold(0, |sum, var| sum.saturating_add(bytes(program, var)))
}

/// How many blocks of the model lie within one another at most; the arms of an `else if` chain count as
/// one. At most [`NESTING_MAX`] are safe.
pub fn nesting(program: &Program) -> u32 {
    let bodies = [
        &program.init,
        &program.prologue,
        &program.step,
        &program.finish,
    ];
    let functions = program.functions.iter().map(|function| &function.body);
    bodies
        .into_iter()
        .chain(functions)
        .map(depth)
        .max()
        .unwrap_or(0)
}

fn depth(block: &Block) -> u32 {
    let depth = |block| stacker::maybe_grow(32 << 10, 1 << 20, || depth(block));
    block
        .iter()
        .map(|stmt| match stmt {
            Stmt::For { body, .. } => 1 + depth(body),
            Stmt::If { accept, reject, .. } => {
                let chained = matches!(reject.as_slice(), [Stmt::If { .. }]);
                let other = depth(reject) + u32::from(!chained);
                other.max(1 + depth(accept))
            }
            Stmt::Let { .. }
            | Stmt::Var { .. }
            | Stmt::Assign { .. }
            | Stmt::AssignElement { .. }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Stop
            | Stmt::Return(_) => 0,
        })
        .max()
        .unwrap_or(0)
}

fn variables(program: &Program) -> Vec<VarId> {
    let mut vars = program.states.clone();
    for block in [
        &program.init,
        &program.prologue,
        &program.step,
        &program.finish,
    ] {
        collect(program, block, &mut vars);
    }
    // An output that nobody reads goes to its buffer at once.
    let read = usage(program).read;
    vars.extend(
        program
            .outputs
            .iter()
            .filter(|var| read[var.0 as usize] > 0),
    );
    vars
}

fn collect(program: &Program, block: &Block, vars: &mut Vec<VarId>) {
    for stmt in block {
        match stmt {
            Stmt::Var { var, .. } if program[*var].kind == VarKind::Local => vars.push(*var),
            Stmt::If { accept, reject, .. } => {
                stacker::maybe_grow(32 << 10, 1 << 20, || {
                    collect(program, accept, vars);
                    collect(program, reject, vars);
                });
            }
            Stmt::For { body, .. } => {
                stacker::maybe_grow(32 << 10, 1 << 20, || collect(program, body, vars));
            }
            Stmt::Let { .. }
            | Stmt::Var { .. }
            | Stmt::Assign { .. }
            | Stmt::AssignElement { .. }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Stop
            | Stmt::Return(_) => {}
        }
    }
}

/// Bytes of a variable in WGSL: `vec3` takes the room of `vec4`.
fn bytes(program: &Program, var: VarId) -> u32 {
    let var = &program[var];
    let element = match var.ty {
        Type::F32 | Type::I32 | Type::U32 | Type::Bool => 4,
        Type::Vec2 => 8,
        Type::Vec3 | Type::Vec4 => 16,
    };
    match var.len {
        Len::One => element,
        Len::Fixed(n) => n.saturating_mul(element),
        // A table lies in storage.
        Len::Open { .. } => 0,
    }
}
