//! Loops in which lanes exchange values, and which are not unrolled: four iterations are written one after
//! the other, so that each need not wait for the exchanges of the one before. Drivers do not do this where
//! they do not know how many iterations there are.
//!
//! The same statements run in the same order.

use super::places::{binary, int, node, read};
use crate::{
    builtin::BuiltinId,
    ir::{
        BinaryOp, Block, Expr, ExprId, Program, Stmt, Type, Value, VarId, VarKind, any_statement,
        cost::iterations,
    },
    passes::{inline_lets::crosses_lanes, names::fresh, rewrite::Cloner},
};

/// Iterations that are written one after the other, a power of two.
const COPIES: u32 = 4;
/// Iterations of a loop that passes unroll.
const UNROLLED: u64 = 32;
/// Nodes that a body may have.
const NODES: usize = 400;

/// Overlaps the iterations of the loops of agents.
pub(crate) fn run(program: &mut Program) {
    program.each_section(|program, place, block| {
        if place.is_of_agent() {
            overlap(program, block);
        }
    });
}

fn overlap(program: &mut Program, block: &mut Block) {
    let mut new = Block::with_capacity(block.len());
    for mut stmt in std::mem::take(block) {
        for inner in stmt.blocks_mut() {
            overlap(program, inner);
        }
        let is_known = iterations(program, &stmt).is_some_and(|n| n <= UNROLLED);
        if let Stmt::For {
            index,
            start,
            end,
            body,
        } = &mut stmt
            && !is_known
            && waits(program, body)
        {
            let body = std::mem::take(body);
            in_fours(program, (*index, [*start, *end], body), &mut new);
        } else {
            new.push(stmt);
        }
    }
    *block = new;
}

/// Do iterations wait for exchanges, and can they be written one after the other?
fn waits(program: &Program, body: &Block) -> bool {
    let leaves = |stmt: &Stmt| match stmt {
        Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_) => true,
        Stmt::For { .. } => iterations(program, stmt).is_none_or(|n| n > UNROLLED),
        Stmt::Let { .. }
        | Stmt::Var { .. }
        | Stmt::Assign { .. }
        | Stmt::AssignElement { .. }
        | Stmt::If { .. } => false,
    };
    let waits = |stmt: &Stmt| {
        let mut roots = stmt.roots().to_vec().into_iter();
        roots.any(|root| crosses_lanes(program, root))
    };
    let mut nodes = 0;
    program.each_node_of(body, &mut |_| nodes += 1);
    nodes <= NODES && any_statement(body, &waits) && !any_statement(body, &leaves)
}

/// `for b in 0..(end - start) / 4 { … four times … }`, and a loop over those that are left.
fn in_fours(
    program: &mut Program,
    (index, bounds, body): (VarId, [ExprId; 2], Block),
    new: &mut Block,
) {
    let [first, last] = bounds.map(|bound| {
        let name = fresh(program, "bound".to_owned(), Type::I32, VarKind::Let);
        new.push(Stmt::Let {
            var: name,
            value: bound,
        });
        name
    });
    // No more than there are, should the difference be beyond an `i32`.
    let (a, b) = (read(program, last), read(program, first));
    let condition = binary(program, BinaryOp::Greater, a, b);
    let (a, b) = (read(program, last), read(program, first));
    let between = binary(program, BinaryOp::Subtract, a, b);
    let zero = int(program, 0);
    let between = node(program, Expr::Builtin(BuiltinId::MAX, vec![between, zero]));
    let shift = node(program, Expr::Literal(Value::U32(COPIES.trailing_zeros())));
    let (accept, reject) = (
        binary(program, BinaryOp::ShiftRight, between, shift),
        int(program, 0),
    );
    let value = node(
        program,
        Expr::Select {
            condition,
            accept,
            reject,
        },
    );
    let fours = fresh(program, "fours".to_owned(), Type::I32, VarKind::Let);
    new.push(Stmt::Let { var: fours, value });
    let before = |program: &mut Program, of: VarId| {
        let (number, by) = (read(program, of), int(program, COPIES));
        let before = binary(program, BinaryOp::Multiply, number, by);
        let first = read(program, first);
        binary(program, BinaryOp::Add, first, before)
    };
    let four = fresh(program, "four".to_owned(), Type::I32, VarKind::Index);
    let mut all = Block::new();
    for copy in 0..COPIES {
        let name = program[index].name.clone();
        let own = fresh(program, name, Type::I32, VarKind::Let);
        let (begin, by) = (before(program, four), int(program, copy));
        let value = binary(program, BinaryOp::Add, begin, by);
        all.push(Stmt::Let { var: own, value });
        let mut cloner = Cloner::default();
        cloner.rename(index, own);
        all.extend(cloner.block(program, &body));
    }
    new.push(Stmt::For {
        index: four,
        start: int(program, 0),
        end: read(program, fours),
        body: all,
    });
    new.push(Stmt::For {
        index,
        start: before(program, fours),
        end: read(program, last),
        body,
    });
}
