//! Statements that assign a whole variable, be it one value or an array.

use crate::{
    ir::{Expr, ExprId, Len, Program, Stmt, Type, Value, VarId, VarKind},
    span::Span,
};

/// Assigns a variable, or each element of it, what `value` gives: of an array it is asked once, with the name
/// of the index.
pub(super) fn assign_each(
    program: &mut Program,
    var: VarId,
    value: impl FnOnce(&mut Program, Option<VarId>) -> ExprId,
) -> Stmt {
    let Len::Fixed(count) = program[var].len else {
        let value = value(program, None);
        return Stmt::Assign { var, value };
    };
    let index = program.add_name("k", Type::I32);
    program[index].kind = VarKind::Index;
    let mut add = |expr: Expr| program.add(expr, Span::default());
    let start = add(Expr::Literal(Value::I32(0)));
    let end = add(Expr::Literal(Value::I32(count as i32)));
    let place = add(Expr::Read(index));
    let value = value(program, Some(index));
    Stmt::For {
        index,
        start,
        end,
        body: vec![Stmt::AssignElement {
            var,
            index: place,
            value,
        }],
    }
}

/// Assigns a variable the value of another one of its shape.
pub(super) fn assign_copy(program: &mut Program, var: VarId, from: VarId) -> Stmt {
    assign_each(program, var, |program, index| {
        let value = match index {
            None => Expr::Read(from),
            Some(index) => Expr::Element {
                array: from,
                index: program.add(Expr::Read(index), Span::default()),
            },
        };
        program.add(value, Span::default())
    })
}
