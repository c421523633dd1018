//! One small valid program, and what `verify` says of every way to break it.

use super::*;
use crate::ir::{Expr, Function, Launch, Phase, Value, Var};
use crate::span::Span;

fn var(program: &mut Program, name: &str, kind: VarKind, len: Len) -> VarId {
    let ty = Type::I32;
    program.add_var(Var {
        name: name.to_owned(),
        doc: String::new(),
        ty,
        len,
        kind,
        word: 0,
        span: Span::default(),
    })
}

fn int(program: &mut Program, x: i32) -> ExprId {
    program.add(Expr::Literal(Value::I32(x)), Span::default())
}

fn read(program: &mut Program, var: VarId) -> ExprId {
    program.add(Expr::Read(var), Span::default())
}

/// The variables of [`valid`], by what they are.
const STATE: VarId = VarId(0);
const OUTPUT: VarId = VarId(1);
const NAME: VarId = VarId(2);
const INDEX: VarId = VarId(3);
const LOCAL: VarId = VarId(4);
const ARGUMENT: VarId = VarId(5);

/// state n = 0; fn same(x) { return x }; step { let name = n; var local: [i32; 3]; for index in 0..3 {
/// local[index] = name } }; output = n
fn valid() -> Program {
    let mut p = Program::default();
    p.states = vec![var(&mut p, "n", VarKind::State, Len::One)];
    p.outputs = vec![var(&mut p, "out", VarKind::Output, Len::One)];
    var(&mut p, "name", VarKind::Let, Len::One);
    var(&mut p, "index", VarKind::Index, Len::One);
    var(&mut p, "local", VarKind::Local, Len::Fixed(3));
    var(&mut p, "x", VarKind::Argument, Len::One);
    let value = int(&mut p, 0);
    p.init = vec![Stmt::Assign { var: STATE, value }];
    let value = read(&mut p, ARGUMENT);
    p.functions = vec![Function {
        name: "same".to_owned(),
        doc: String::new(),
        params: vec![ARGUMENT],
        result: Type::I32,
        body: vec![Stmt::Return(value)],
    }];
    let named = read(&mut p, STATE);
    let (start, end) = (int(&mut p, 0), int(&mut p, 3));
    let (index, value) = (read(&mut p, INDEX), read(&mut p, NAME));
    p.phases = vec![Phase::from(vec![
        Stmt::Let {
            var: NAME,
            value: named,
        },
        Stmt::Var {
            var: LOCAL,
            value: None,
        },
        Stmt::For {
            index: INDEX,
            start,
            end,
            body: vec![Stmt::AssignElement {
                var: LOCAL,
                index,
                value,
            }],
        },
    ])];
    let value = read(&mut p, STATE);
    p.finish = vec![Stmt::Assign { var: OUTPUT, value }];
    p
}

/// Breaks the valid program and asserts that the complaint names the reason.
fn broken(reason: &str, harm: impl FnOnce(&mut Program)) {
    let mut program = valid();
    harm(&mut program);
    match verify(&program) {
        Ok(()) => panic!("nobody complains of: {reason}"),
        Err(found) => assert!(found.contains(reason), "{found}\nis not about: {reason}"),
    }
}

#[test]
fn a_valid_program_passes() {
    assert_eq!(verify(&valid()), Ok(()));
    assert_eq!(verify(&Program::default()), Ok(()));
}

#[test]
fn names_live_in_their_block() {
    broken("may not be read", |p| {
        let value = read(p, NAME);
        p.finish.push(Stmt::Assign { var: OUTPUT, value });
    });
    broken("declared twice", |p| {
        let value = int(p, 1);
        p.phases[0].push(Stmt::Let { var: NAME, value });
    });
    broken("may not be assigned", |p| {
        let (index, value) = (int(p, 0), int(p, 0));
        p.finish.push(Stmt::AssignElement {
            var: LOCAL,
            index,
            value,
        });
    });
    broken("may not be read", |p| {
        let value = read(p, INDEX);
        p.phases[0].push(Stmt::Assign { var: STATE, value });
    });
}

#[test]
fn nodes_have_one_user_and_a_type() {
    broken("two users", |p| {
        let Stmt::Assign { value, .. } = p.init[0] else {
            panic!("init begins with an assignment")
        };
        p.init.push(Stmt::Assign { var: STATE, value });
    });
    broken("two users", |p| {
        let own = ExprId(p.exprs.len() as u32);
        let value = p.add(
            Expr::Unary(crate::ir::UnaryOp::Negate, own),
            Span::default(),
        );
        p.init.push(Stmt::Assign { var: STATE, value });
    });
    broken("is f32 where i32 is due", |p| {
        let value = p.add(Expr::Literal(Value::F32(1.0)), Span::default());
        p.init.push(Stmt::Assign { var: STATE, value });
    });
    broken("ill-typed operands", |p| {
        let a = int(p, 1);
        let b = p.add(Expr::Literal(Value::F32(1.0)), Span::default());
        let value = p.add(
            Expr::Binary(crate::ir::BinaryOp::Add, a, b),
            Span::default(),
        );
        p.init.push(Stmt::Assign { var: STATE, value });
    });
    broken("ill-typed arguments of `sin`", |p| {
        let a = int(p, 1);
        let sin = crate::builtin::BuiltinId::SIN;
        let value = p.add(Expr::Builtin(sin, vec![a]), Span::default());
        p.init.push(Stmt::Assign { var: STATE, value });
    });
    broken("does not exist", |p| {
        p.init.push(Stmt::Assign {
            var: STATE,
            value: ExprId(999),
        });
    });
    broken("an array is read", |p| {
        let value = read(p, LOCAL);
        p.phases[0].push(Stmt::Assign { var: STATE, value });
    });
}

#[test]
fn sections_keep_to_what_they_may() {
    broken("stop outside step", |p| p.finish.push(Stmt::Stop));
    broken("outside a for", |p| p.phases[0].push(Stmt::Break));
    broken("return outside", |p| {
        let value = int(p, 0);
        p.phases[0].push(Stmt::Return(value));
    });
    broken("may not be assigned", |p| {
        let value = int(p, 0);
        p.phases[0].push(Stmt::Assign { var: OUTPUT, value });
    });
    broken("the step is unknown", |p| {
        let value = p.add(Expr::Launch(Launch::Step), Span::default());
        p.finish.push(Stmt::Assign { var: OUTPUT, value });
    });
    broken("nothing may be drawn", |p| {
        let number = p.add(Expr::Literal(Value::U32(0)), Span::default());
        let word = p.add(
            Expr::RandomWord {
                owner: Owner::Agent,
                number,
                step: None,
            },
            Span::default(),
        );
        let value = p.add(
            Expr::Bitcast {
                to: Type::I32,
                value: word,
            },
            Span::default(),
        );
        p.functions[0].body = vec![Stmt::Return(value)];
    });
    broken("which step changes", |p| {
        let name = var(p, "early", VarKind::Let, Len::One);
        let value = read(p, STATE);
        p.prologue.push(Stmt::Let { var: name, value });
        let value = int(p, 1);
        p.phases[0].push(Stmt::Assign { var: STATE, value });
    });
    broken("no `let`", |p| p.prologue.push(Stmt::Stop));
}

#[test]
fn functions_return_and_do_not_recur() {
    broken("without a return", |p| p.functions[0].body.clear());
    broken("before it stands", |p| {
        let x = read(p, ARGUMENT);
        let value = p.add(
            Expr::Call(crate::ir::FunctionId(0), vec![x]),
            Span::default(),
        );
        p.functions[0].body = vec![Stmt::Return(value)];
    });
    broken("may not be read", |p| {
        let value = read(p, STATE);
        p.functions[0].body = vec![Stmt::Return(value)];
    });
}

#[test]
fn lists_are_complete() {
    broken("missing from the list", |p| p.states.clear());
    broken("twice or wrongly", |p| p.states.push(OUTPUT));
    broken("share words", |p| {
        let second = var(p, "m", VarKind::State, Len::Fixed(2));
        p.states.push(second);
    });
    broken("without a value", |p| p.init.clear());
    broken("without a value", |p| p.finish.clear());
}
