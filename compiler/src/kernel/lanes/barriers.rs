//! Where barriers may stand: where all lanes of a workgroup come by together. The agents that they work for
//! part at conditions, at `break` and `continue`, and where one stops.

use crate::ir::{
    BinaryOp, Block, Expr, ExprId, Len, Program, Stmt, VarId, VarKind, any_statement,
    cost::instructions::Weights,
};
use crate::kernel::lane_layout::LaneLayout;

/// May lanes tell one another what they do by barriers? Only what is plain counts: loops whose bounds are
/// literals or params, and no conditions but those of the kernel's own.
pub(crate) fn allows_barriers(program: &Program, layout: &LaneLayout) -> bool {
    let goes_on =
        !step_stops(program) || outlives_stop(program, layout, true) || !step_talks(program);
    let mut blocks = program.agent_blocks();
    goes_on && blocks.all(|block| is_plain(program, block))
}

/// Shall an agent that has stopped go on, without effect, until all of its subgroup have? Where lanes talk, a
/// loop that each agent leaves by itself costs more (docs/performance.md). Not if the step has loops, which
/// might never end early for numbers that mean nothing, and not if lanes would have to tell one another
/// arrays afterwards. With `barriers`, which nobody may leave out, such an agent goes on to the end; so only
/// if they stand in the step.
pub(crate) fn outlives_stop(program: &Program, layout: &LaneLayout, barriers: bool) -> bool {
    let is_alike = |state: VarId| layout.part(program, state).is_none();
    let has_array = (program.states.iter().copied())
        .any(|state| is_alike(state) && program[state].len != Len::One);
    let weights = Weights::new(program, ());
    layout.lanes > 1
        && step_stops(program)
        && (!barriers || step_talks(program))
        && !(has_array && talks(program, &program.finish))
        && !(program.phases.iter()).any(|block| weights.of_block(program, block).loops)
}

/// Does a block stop the agent?
pub(crate) fn stops(block: &[Stmt]) -> bool {
    any_statement(block, &|stmt| matches!(stmt, Stmt::Stop))
}

/// Can a step stop the agent?
fn step_stops(program: &Program) -> bool {
    program.phases.iter().any(|block| stops(block))
}

/// Do lanes exchange values in a step?
fn step_talks(program: &Program) -> bool {
    program.phases.iter().any(|block| talks(program, block))
}

/// Does each exchange in a block stand where all agents come by?
fn is_plain(program: &Program, block: &Block) -> bool {
    block.iter().all(|stmt| {
        let asked = (stmt.roots().iter()).any(|&root| is_asked_for(program, root, false));
        let inner = || stmt.blocks();
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
    second && matches!(program[id], Expr::AcrossLanes { .. })
        || (program[id].operands().iter()).any(|&operand| is_asked_for(program, operand, second))
}

/// Is a loop's bound the same for all agents, and plainly so?
fn is_alike(program: &Program, id: ExprId) -> bool {
    matches!(program[id], Expr::Literal(_) | Expr::Rows(_))
        || matches!(program[id], Expr::Read(var) if program[var].kind == VarKind::Param)
}

/// May rounds end early?
fn leaves(block: &Block) -> bool {
    any_statement(block, &|stmt| matches!(stmt, Stmt::Break | Stmt::Continue))
}

/// Do lanes tell one another something in a block?
fn talks(program: &Program, block: &Block) -> bool {
    any_statement(block, &|stmt| {
        let mut nodes = program.nodes_of(stmt);
        nodes.any(|id| matches!(program[id], Expr::AcrossLanes { .. }))
    })
}
