//! Arrays whose elements are all set behind their declaration, as those of `[for k in 0..n: …]` are: they
//! need not be cleared there.

use sim_compiler::ir::{
    Block, Expr, Len, Program, Stmt, Value, VarId, any_statement, each_statement,
};

/// Whether the statements behind the declaration of an array set each element before they read any.
pub(super) fn is_filled(program: &Program, array: VarId, behind: &[Stmt]) -> bool {
    let first =
        (behind.iter()).find(|stmt| mentions(program, std::slice::from_ref(stmt), array) > 0);
    let Some(Stmt::For {
        index,
        start,
        end,
        body,
    }) = first
    else {
        return false;
    };
    let Len::Fixed(len) = program[array].len else {
        return false;
    };
    let sets_all = program[*start] == Expr::Literal(Value::I32(0))
        && program[*end] == Expr::Literal(Value::I32(len as i32));
    let sets = body.iter().any(|stmt| {
        matches!(stmt, Stmt::AssignElement { var, index: place, .. }
            if *var == array && program[*place] == Expr::Read(*index))
    });
    sets_all && sets && mentions(program, body, array) == 1 && !jumps(body)
}

/// How often statements read an array or set an element.
fn mentions(program: &Program, block: &[Stmt], array: VarId) -> usize {
    let mut count = 0;
    each_statement(block, &mut |stmt| {
        count += usize::from(stmt.target() == Some(array));
        let nodes = program.nodes_of(stmt);
        count += nodes
            .filter(|id| program[*id].variable() == Some(array))
            .count();
    });
    count
}

/// Whether iterations may end early.
fn jumps(body: &Block) -> bool {
    any_statement(body, &|stmt| {
        matches!(
            stmt,
            Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_)
        )
    })
}
