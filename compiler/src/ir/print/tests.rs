//! The text of small programs.

use super::*;
use crate::ir::{BinaryOp, Expr, ExprId, Phase, UnaryOp, Value};
use crate::span::Span;

fn add(program: &mut Program, expr: Expr) -> ExprId {
    program.add(expr, Span::default())
}

fn var(program: &mut Program, name: &str, kind: VarKind, len: Len) -> VarId {
    program.add_var(Var {
        name: name.to_owned(),
        doc: String::new(),
        ty: Type::F32,
        len,
        kind,
        word: 0,
        span: Span::default(),
    })
}

#[test]
fn a_program_reads_like_a_model() {
    let mut p = Program::default();
    let price = var(&mut p, "price", VarKind::State, Len::One);
    let first = var(&mut p, "tmp", VarKind::Let, Len::One);
    let second = var(&mut p, "tmp", VarKind::Local, Len::Fixed(4));
    p.states = vec![price];
    let value = add(&mut p, Expr::Literal(Value::F32(100.0)));
    p.init = vec![Stmt::Assign { var: price, value }];
    let (a, b, c) = (
        add(&mut p, Expr::Read(price)),
        add(&mut p, Expr::Read(price)),
        add(&mut p, Expr::Literal(Value::F32(-0.5))),
    );
    let difference = add(&mut p, Expr::Binary(BinaryOp::Subtract, b, c));
    let difference = add(&mut p, Expr::Binary(BinaryOp::Subtract, a, difference));
    let negative = add(&mut p, Expr::Unary(UnaryOp::Negate, difference));
    let index = add(&mut p, Expr::Literal(Value::I32(3)));
    let value = add(&mut p, Expr::Read(first));
    let condition = add(&mut p, Expr::Literal(Value::Bool(true)));
    p.phases = vec![Phase::from(vec![
        Stmt::Let {
            var: first,
            value: negative,
        },
        Stmt::Var {
            var: second,
            value: None,
        },
        Stmt::AssignElement {
            var: second,
            index,
            value,
        },
        Stmt::If {
            condition,
            accept: vec![Stmt::Stop],
            reject: vec![],
        },
    ])];
    let expected = "\
state price: f32 @ word 0

init {
    price = 100.0
}

step {
    let tmp.1: f32 = -(price - (price - -0.5))
    var tmp.2: [f32; 4]
    tmp.2[3] = tmp.1
    if true {
        stop
    }
}
";
    assert_eq!(print(&p), expected);
}

#[test]
fn depth_is_no_danger() {
    let mut p = Program::default();
    let x = var(&mut p, "x", VarKind::State, Len::One);
    let mut value = add(&mut p, Expr::Read(x));
    for _ in 0..200_000 {
        let one = add(&mut p, Expr::Read(x));
        value = add(&mut p, Expr::Binary(BinaryOp::Subtract, one, value));
    }
    p.phases = vec![Phase::from(vec![Stmt::Assign { var: x, value }])];
    assert!(print(&p).len() > 1_000_000);
}
