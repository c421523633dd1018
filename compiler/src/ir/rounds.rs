//! How many rounds the loops inside a step take at most: software drivers end loops after a limit, in
//! silence, and the runtime must stay below it.

use super::{Block, Expr, ExprId, Program, Stmt, Value};

/// The most rounds of `init`, one `step` or `finish`, whichever has more; none if a loop's bounds depend on
/// the run.
pub fn inner_rounds(program: &Program) -> Option<u64> {
    let once = block_rounds(program, &program.init)?
        .checked_add(block_rounds(program, &program.finish)?)?;
    let step = (program.phases.iter()).try_fold(0u64, |sum, block| {
        sum.checked_add(block_rounds(program, block)?)
    })?;
    Some(once.max(step))
}

fn block_rounds(program: &Program, block: &Block) -> Option<u64> {
    block.iter().try_fold(0u64, |sum, stmt| {
        sum.checked_add(stmt_rounds(program, stmt)?)
    })
}

fn stmt_rounds(program: &Program, stmt: &Stmt) -> Option<u64> {
    match stmt {
        Stmt::Let { value, .. } | Stmt::Assign { value, .. } | Stmt::Return(value) => {
            expr_rounds(program, *value)
        }
        Stmt::Var { value, .. } => value.map_or(Some(0), |value| expr_rounds(program, value)),
        Stmt::AssignElement { index, value, .. } => {
            expr_rounds(program, *index)?.checked_add(expr_rounds(program, *value)?)
        }
        Stmt::If {
            condition,
            accept,
            reject,
        } => {
            let branches =
                block_rounds(program, accept)?.checked_add(block_rounds(program, reject)?)?;
            expr_rounds(program, *condition)?.checked_add(branches)
        }
        Stmt::For {
            start, end, body, ..
        } => {
            let (Expr::Literal(Value::I32(start)), Expr::Literal(Value::I32(end))) =
                (&program[*start], &program[*end])
            else {
                return None;
            };
            let rounds = u64::try_from(i64::from(*end) - i64::from(*start)).unwrap_or(0);
            block_rounds(program, body)?
                .checked_add(1)?
                .checked_mul(rounds)
        }
        Stmt::Break | Stmt::Continue | Stmt::Stop => Some(0),
    }
}

fn expr_rounds(program: &Program, expr: ExprId) -> Option<u64> {
    let own = match &program[expr] {
        Expr::Call(function, _) => block_rounds(program, &program[*function].body)?,
        _ => 0,
    };
    program[expr]
        .operands()
        .iter()
        .copied()
        .try_fold(own, |sum, operand| {
            sum.checked_add(expr_rounds(program, operand)?)
        })
}
