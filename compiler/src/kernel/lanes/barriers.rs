//! Where barriers may stand: where all lanes of a workgroup converge. Lanes of different agents diverge at
//! conditions, at `break` and `continue`, and where an agent stops.

use crate::ir::{
    BinaryOp, Block, Expr, ExprId, Len, Program, Stmt, VarId, VarKind, any_statement,
    cost::instructions::Weights,
};
use crate::kernel::lane_layout::LaneLayout;

/// May lanes exchange values by barriers? Only control flow that is plainly uniform counts: loops whose
/// bounds are literals or params, and no conditions but those of the kernel's own.
pub(crate) fn allows_barriers(program: &Program, layout: &LaneLayout) -> bool {
    let goes_on =
        !program.can_stop() || outlives_stop(program, layout, true) || !step_exchanges(program);
    let mut blocks = program.agent_blocks();
    goes_on && blocks.all(|block| is_plain(program, block))
}

/// Shall an agent that has stopped go on, without effect, until all of its subgroup have? Where lanes talk, a
/// loop that each agent leaves by itself costs more (docs/performance.md). Not if the step has loops, which
/// might never end early for numbers that mean nothing, and not if lanes would have to tell one another
/// arrays afterwards. With `barriers`, which nobody may leave out, such an agent goes on to the end; so only
/// if they stand in the step.
pub(crate) fn outlives_stop(program: &Program, layout: &LaneLayout, barriers: bool) -> bool {
    let is_uniform = |state: VarId| layout.part(program, state).is_none();
    let has_array = (program.states.iter().copied())
        .any(|state| is_uniform(state) && program[state].len != Len::One);
    let weights = Weights::new(program, ());
    layout.lanes > 1
        && program.can_stop()
        && (!barriers || step_exchanges(program))
        && !(has_array && has_exchange(program, &program.finish))
        && !(program.phases.iter()).any(|block| weights.of_block(program, block).loops)
}

/// Does a block stop the agent?
pub(crate) fn stops(block: &[Stmt]) -> bool {
    any_statement(block, &|stmt| matches!(stmt, Stmt::Stop))
}

/// Do lanes exchange values in a step?
fn step_exchanges(program: &Program) -> bool {
    program
        .phases
        .iter()
        .any(|block| has_exchange(program, block))
}

/// Is each exchange in a block where all agents converge?
fn is_plain(program: &Program, block: &Block) -> bool {
    block.iter().all(|stmt| {
        let asked = (stmt.roots().iter()).any(|&root| is_asked_for(program, root, false));
        let inner = || stmt.blocks();
        let plain = match stmt {
            Stmt::For {
                start, end, body, ..
            } => {
                let uniform = is_uniform(program, *start) && is_uniform(program, *end);
                uniform && !leaves(body) && is_plain(program, body)
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
        !asked && (plain || !inner().any(|block| has_exchange(program, block)))
    })
}

/// Is there an exchange in a tree that `&&` or `||` skip for some agents? `second` if the tree is in their
/// second operand.
fn is_asked_for(program: &Program, id: ExprId, second: bool) -> bool {
    if let Expr::Binary(BinaryOp::And | BinaryOp::Or, a, b) = program[id] {
        return is_asked_for(program, a, second) || is_asked_for(program, b, true);
    }
    second && program[id].crosses_lanes()
        || (program[id].operands().iter()).any(|&operand| is_asked_for(program, operand, second))
}

/// Is a loop's bound plainly uniform?
fn is_uniform(program: &Program, id: ExprId) -> bool {
    matches!(
        program[id],
        Expr::Literal(_) | Expr::Double(_) | Expr::Rows(_)
    ) || matches!(program[id], Expr::Read(var) if program[var].kind == VarKind::Param)
}

/// May iterations end early?
fn leaves(block: &Block) -> bool {
    any_statement(block, &|stmt| matches!(stmt, Stmt::Break | Stmt::Continue))
}

/// Do lanes exchange values in a block?
fn has_exchange(program: &Program, block: &Block) -> bool {
    any_statement(block, &|stmt| {
        let mut nodes = program.nodes_of(stmt);
        nodes.any(|id| program[id].crosses_lanes())
    })
}
