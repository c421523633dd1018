//! Where barriers may stand: where all lanes of a workgroup come by together. The agents that they work for
//! part at conditions, at `break` and `continue`, and where one stops.

use crate::{
    ir::{BinaryOp, Block, Expr, ExprId, Len, Program, Stmt, VarId, VarKind, weight::Weights},
    passes::rewrite::{blocks, operands, roots},
};

/// May lanes tell one another what they do by barriers? Only what is plain counts: loops whose bounds are
/// literals or params, and no conditions but those of the kernel's own.
pub(crate) fn allows_barriers(program: &Program) -> bool {
    let goes_on =
        !stops(&program.step) || outlives_stop(program, true) || !talks(program, &program.step);
    let parts = [
        &program.init,
        &program.prologue,
        &program.step,
        &program.finish,
    ];
    goes_on && parts.iter().all(|block| is_plain(program, block))
}

/// Shall an agent that has stopped go on, without effect, until all of its subgroup have? Where lanes talk, a
/// loop that each agent leaves by itself costs more: on an H200, 10 to 17 %. Not if the step has loops, which
/// might never end early for numbers that mean nothing, and not if lanes would have to tell one another
/// arrays afterwards. With `barriers`, which nobody may leave out, such an agent goes on to the end; so only
/// if they stand in the step.
pub(crate) fn outlives_stop(program: &Program, barriers: bool) -> bool {
    let is_alike = |state: VarId| program[state].lane_stride == 0;
    let has_array = (program.states.iter().copied())
        .any(|state| is_alike(state) && program[state].len != Len::One);
    program.lanes > 1
        && stops(&program.step)
        && (!barriers || talks(program, &program.step))
        && !(has_array && talks(program, &program.finish))
        && !Weights::new(program).block(program, &program.step).loops
}

/// Does the block, or one within it, stop the agent?
pub(crate) fn stops(block: &Block) -> bool {
    has(block, &|stmt| matches!(stmt, Stmt::Stop))
}

/// Does each exchange in a block stand where all agents come by?
fn is_plain(program: &Program, block: &Block) -> bool {
    block.iter().all(|stmt| {
        let asked = (roots(stmt).iter()).any(|&root| is_asked_for(program, root, false));
        let inner = || blocks(stmt).into_iter().flatten();
        let plain = match stmt {
            Stmt::For {
                start, end, body, ..
            } => {
                let alike = is_alike(program, *start) && is_alike(program, *end);
                alike && !leaves(body) && is_plain(program, body)
            }
            Stmt::If { .. } => false,
            Stmt::Let { .. }
            | Stmt::Var { .. }
            | Stmt::Assign { .. }
            | Stmt::AssignElement { .. }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Stop
            | Stmt::Return(_) => true,
        };
        !asked && (plain || !inner().any(|block| talks(program, block)))
    })
}

/// Is there an exchange in a tree that `&&` or `||` leave out for some agents? `second` if the tree is in
/// their second operand.
fn is_asked_for(program: &Program, id: ExprId, second: bool) -> bool {
    if let Expr::Binary(BinaryOp::And | BinaryOp::Or, a, b) = program[id] {
        return is_asked_for(program, a, second) || is_asked_for(program, b, true);
    }
    second && matches!(program[id], Expr::AcrossLanes(..))
        || (operands(&program[id]).iter()).any(|&operand| is_asked_for(program, operand, second))
}

/// Is a loop's bound the same for all agents, and plainly so?
fn is_alike(program: &Program, id: ExprId) -> bool {
    matches!(program[id], Expr::Literal(_) | Expr::Rows(_))
        || matches!(program[id], Expr::Read(var) if program[var].kind == VarKind::Param)
}

/// May rounds end early?
fn leaves(block: &Block) -> bool {
    has(block, &|stmt| matches!(stmt, Stmt::Break | Stmt::Continue))
}

/// Do lanes tell one another something in a block?
fn talks(program: &Program, block: &Block) -> bool {
    has(block, &|stmt| {
        let mut waiting = roots(stmt).to_vec();
        while let Some(id) = waiting.pop() {
            if matches!(program[id], Expr::AcrossLanes(..)) {
                return true;
            }
            waiting.extend_from_slice(&operands(&program[id]));
        }
        false
    })
}

/// Is there such a statement in a block, or in one within it?
fn has(block: &Block, is_such: &impl Fn(&Stmt) -> bool) -> bool {
    let inside = |block| stacker::maybe_grow(32 << 10, 1 << 20, || has(block, is_such));
    (block.iter()).any(|stmt| is_such(stmt) || blocks(stmt).into_iter().flatten().any(inside))
}
