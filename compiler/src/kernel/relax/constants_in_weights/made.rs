//! What stands before the time loop for weights.

use super::lets;
use crate::{
    ir::{
        BinaryOp, Expr, ExprId, Launch, Program, Stmt, Type, UnaryOp, Value, VarId, VarKind, VarMap,
    },
    kernel::lane_layout::LaneLayout,
    passes::names,
    span::Span,
};

/// Terms of a sum on a line before the time loop.
const LINE: usize = 16;

/// What stands before the time loop for a weight or for what weights lost.
pub(crate) enum Made {
    /// Of the first lane, 0 of the others.
    First {
        bias: VarId,
        factor: f64,
    },
    Scaled {
        weight: VarId,
        factor: f64,
    },
    /// `factor * bias` and, by ratios, more of scaled weights.
    Shifted {
        bias: Option<VarId>,
        factor: f64,
        more: Vec<(f64, VarId)>,
    },
}

/// Writes it down: scaled weights in the order of what they are made of, as that is how registers hold it.
pub(crate) fn write_down(program: &mut Program, layout: &LaneLayout, mut made: Vec<(VarId, Made)>) {
    let mut places = VarMap::filled(0, program.vars.len());
    let given = lets(&program.prologue).into_iter().map(|(var, _)| var);
    for (place, var) in program.inputs.iter().copied().chain(given).enumerate() {
        places[var] = place;
    }
    made.sort_by_key(|(_, made)| match made {
        Made::First { .. } => (0, 0),
        Made::Scaled { weight, .. } => (1, places[*weight]),
        Made::Shifted { .. } => (2, 0),
    });
    for (var, made) in made {
        let value = made.value(program, layout);
        let value = program.add(Expr::Unary(UnaryOp::Keep, value), Span::default());
        program.prologue.push(Stmt::Let { var, value });
    }
}

impl Made {
    fn value(self, program: &mut Program, layout: &LaneLayout) -> ExprId {
        let read = |program: &mut Program, var| program.add(Expr::Read(var), Span::default());
        match self {
            Made::First { bias, factor } => {
                let lanes = layout.lanes;
                let [lane, zero] = [
                    Expr::Launch(Launch::Lane { lanes }),
                    Expr::Literal(Value::I32(0)),
                ]
                .map(|expr| program.add(expr, Span::default()));
                let is_first = Expr::Binary(BinaryOp::Equal, lane, zero);
                let condition = program.add(is_first, Span::default());
                let bias = read(program, bias);
                let accept = times(program, factor, bias);
                let reject = program.add(Expr::Literal(Value::F32(0.0)), Span::default());
                let choice = Expr::Select {
                    condition,
                    accept,
                    reject,
                };
                program.add(choice, Span::default())
            }
            Made::Scaled { weight, factor } => {
                let weight = read(program, weight);
                times(program, factor, weight)
            }
            Made::Shifted { bias, factor, more } => {
                let bias = bias.map(|bias| {
                    let bias = read(program, bias);
                    times(program, factor, bias)
                });
                let same = more.iter().all(|(ratio, _)| *ratio == more[0].0);
                let common = if same { more[0].0 } else { 1.0 };
                let terms: Vec<ExprId> = (more.into_iter())
                    .map(|(ratio, weight)| {
                        let weight = read(program, weight);
                        times(program, ratio / common, weight)
                    })
                    .collect();
                let total = total(program, &terms);
                let total = times(program, common, total);
                match bias {
                    Some(bias) => {
                        program.add(Expr::Binary(BinaryOp::Add, bias, total), Span::default())
                    }
                    None => total,
                }
            }
        }
    }
}

/// `factor * id`.
fn times(program: &mut Program, factor: f64, id: ExprId) -> ExprId {
    let span = program.span(id);
    if factor == 1.0 {
        return id;
    }
    let factor = program.add(Expr::Literal(Value::F32(factor as f32)), span);
    program.add(Expr::Binary(BinaryOp::Multiply, factor, id), span)
}

/// The sum of all of these, one after another: each is needed no longer then.
fn total(program: &mut Program, terms: &[ExprId]) -> ExprId {
    let mut sum = terms[0];
    for (at, &term) in terms.iter().enumerate().skip(1) {
        // No long lines.
        if at.is_multiple_of(LINE) {
            let var = names::fresh(program, "part".to_owned(), Type::F32, VarKind::Let);
            program.prologue.push(Stmt::Let { var, value: sum });
            sum = program.add(Expr::Read(var), Span::default());
        }
        sum = program.add(Expr::Binary(BinaryOp::Add, sum, term), Span::default());
    }
    sum
}
