//! Every construct of the IR once, as a reader of the kernel sees it.

use crate::{
    build::{Builder, own},
    kernel,
    validate::{naga, tint},
};
use sim_compiler::{
    ir::{
        BinaryOp, Expr, ExprId, Function, FunctionId, Launch, Len, Owner, Stmt, Type, UnaryOp,
        Value, Var, VarId, VarKind,
    },
    random::Generator,
};

fn text(build: Builder) -> String {
    let text = kernel(build.program, Generator::KeyedHash);
    naga(&text);
    tint(&text);
    text
}

/// The lines of the time loop that begin with a word.
fn lines(text: &str, word: &str) -> Vec<String> {
    let body = text.split("steps_run++;").nth(1).expect("a time loop");
    let trimmed = body.lines().map(|line| line.trim().to_owned());
    trimmed.filter(|line| line.starts_with(word)).collect()
}

fn set(build: &mut Builder, var: VarId, value: ExprId) {
    let assign = Stmt::Assign { var, value };
    build.step().push(assign);
}

fn born(build: &mut Builder, var: VarId) {
    let value = build.add(Expr::Literal(Value::zero(build.program[var].ty)));
    build.program.init.push(Stmt::Assign { var, value });
}

fn doc(build: &mut Builder, var: VarId, text: &str) {
    build.program[var].doc = text.to_owned();
}

/// Geometric Brownian motion, with a stop, as it would come from the optimiser.
#[test]
fn a_small_model_reads_like_one() {
    let mut b = Builder::default();
    let sigma = b.one("sigma", Type::F32, VarKind::Param);
    doc(&mut b, sigma, "Volatility per step.");
    let start = b.one("start", Type::F32, VarKind::Input);
    let price = b.one("price", Type::F32, VarKind::State);
    doc(&mut b, price, "Price now.\n\nIn units of the strike.");
    let ups = b.one("ups", Type::I32, VarKind::State);
    let payoff = b.one("payoff", Type::F32, VarKind::Output);
    doc(&mut b, payoff, "What the option pays.");
    let value = b.read(start);
    b.program.init.push(Stmt::Assign { var: price, value });
    born(&mut b, ups);
    let word = b.u(0);
    let word = b.add(Expr::RandomWord {
        owner: Owner::Agent,
        number: word,
        step: None,
    });
    let unit = b.call("unit", vec![word]);
    let noise = b.one("noise", Type::F32, VarKind::Let);
    b.step().push(Stmt::Let {
        var: noise,
        value: unit,
    });
    let (old, by, drawn) = (b.read(price), b.read(sigma), b.read(noise));
    let factor = b.op(BinaryOp::Multiply, by, drawn);
    let moved = b.op(BinaryOp::Multiply, old, factor);
    set(&mut b, price, moved);
    let (now, one) = (b.read(price), b.f(1.0));
    let above = b.op(BinaryOp::Greater, now, one);
    let (count, unit) = (b.read(ups), b.i(1));
    let more = b.op(BinaryOp::Add, count, unit);
    let (now, least) = (b.read(price), b.f(0.01));
    let ruined = b.op(BinaryOp::Less, now, least);
    let reject = vec![Stmt::If {
        condition: ruined,
        accept: vec![Stmt::Stop],
        reject: Vec::new(),
    }];
    b.step().push(Stmt::If {
        condition: above,
        accept: vec![Stmt::Assign {
            var: ups,
            value: more,
        }],
        reject,
    });
    let (now, one) = (b.read(price), b.f(1.0));
    let gain = b.op(BinaryOp::Subtract, now, one);
    let zero = b.f(0.0);
    let value = b.call("max", vec![gain, zero]);
    b.program.finish.push(Stmt::Assign { var: payoff, value });
    insta::assert_snapshot!(text(b));
}

/// One buffer of each kind with values of every type, tables and arrays of params among them.
#[test]
fn every_place_of_storage() {
    let mut b = Builder::default();
    let types = [
        Type::F32,
        Type::I32,
        Type::U32,
        Type::Bool,
        Type::Vec2,
        Type::Vec3,
        Type::Vec4,
    ];
    let [i, j] = ["i", "j"].map(|name| b.one(name, Type::I32, VarKind::Index));
    let mut body = Vec::new();
    let mut finish = Vec::new();
    for ty in types {
        let name = ty.name();
        let scalar = b.one(&format!("param_{name}"), ty, VarKind::Param);
        let several = b.var(&format!("params_{name}"), ty, Len::Fixed(9), VarKind::Param);
        let given = b.one(&format!("given_{name}"), ty, VarKind::Input);
        let many = b.var(&format!("many_{name}"), ty, Len::Fixed(9), VarKind::Input);
        let open = Len::Open { stride: 2 };
        let table = b.var(&format!("table_{name}"), ty, open, VarKind::Data);
        b.program.data.push(table);
        let state = b.one(&format!("state_{name}"), ty, VarKind::State);
        let states = b.var(&format!("states_{name}"), ty, Len::Fixed(9), VarKind::State);
        let out = b.one(&format!("out_{name}"), ty, VarKind::Output);
        let outs = b.var(&format!("outs_{name}"), ty, Len::Fixed(9), VarKind::Output);
        born(&mut b, state);
        let (value, two) = (b.read(given), b.i(2));
        b.program.init.push(Stmt::AssignElement {
            var: states,
            index: two,
            value,
        });
        for array in [several, many, table] {
            for literal in [false, true] {
                let from = if literal { b.i(1) } else { b.read(i) };
                let (index, value) = (b.read(i), b.at(array, from));
                body.push(Stmt::AssignElement {
                    var: states,
                    index,
                    value,
                });
            }
        }
        let value = b.read(scalar);
        body.push(Stmt::Assign { var: state, value });
        let value = b.read(state);
        finish.push(Stmt::Assign { var: out, value });
        let (index, from) = (b.read(j), b.read(j));
        let value = b.at(states, from);
        finish.push(Stmt::AssignElement {
            var: outs,
            index,
            value,
        });
    }
    let step = b.repeat(i, 9, body);
    b.step().push(step);
    let end = b.repeat(j, 9, finish);
    b.program.finish.push(end);
    insta::assert_snapshot!(text(b));
}

/// A function whose names are all WGSL's own.
fn sometimes_minus(b: &mut Builder) {
    let scale = b.one("target", Type::F32, VarKind::Argument);
    let sign = b.one("step", Type::Bool, VarKind::Argument);
    let (condition, value) = (b.read(sign), b.read(scale));
    let result = b.unary(UnaryOp::Negate, value);
    let same = b.read(scale);
    b.program.functions.push(Function {
        name: "min".to_owned(),
        doc: "Minus its argument, sometimes.".to_owned(),
        params: vec![scale, sign],
        result: Type::F32,
        body: vec![Stmt::If {
            condition,
            accept: vec![Stmt::Return(result)],
            reject: vec![Stmt::Return(same)],
        }],
    });
}

/// Statements within one another, functions, launch numbers, names that WGSL takes for itself.
#[test]
fn every_statement() {
    let mut b = Builder::default();
    sometimes_minus(&mut b);
    let x = b.one("order.price", Type::F32, VarKind::State);
    born(&mut b, x);
    let out = b.one("order.price", Type::F32, VarKind::Output);
    let held = b.var("held", Type::F32, Len::Fixed(4), VarKind::Local);
    let n = b.one("slot", Type::I32, VarKind::Local);
    let [i, j] = ["i", "i"].map(|name| b.one(name, Type::I32, VarKind::Index));
    let steps = b.add(Expr::Launch(Launch::Steps));
    b.step().push(Stmt::Var {
        var: held,
        value: None,
    });
    b.step().push(Stmt::Var {
        var: n,
        value: Some(steps),
    });
    // The bound changes while the loop runs, which must not matter.
    let (count, seven) = (b.read(n), b.i(7));
    let less = b.op(BinaryOp::Remainder, count, seven);
    let shrink = Stmt::Assign {
        var: n,
        value: less,
    };
    let (k, to) = (b.read(j), b.read(j));
    let (element, half) = (b.at(held, k), b.f(0.5));
    let sum = b.op(BinaryOp::Add, element, half);
    let update = Stmt::AssignElement {
        var: held,
        index: to,
        value: sum,
    };
    let (step, agent) = (
        b.add(Expr::Launch(Launch::Step)),
        b.add(Expr::Launch(Launch::Agent)),
    );
    let condition = b.op(BinaryOp::Equal, step, agent);
    let stop = Stmt::If {
        condition,
        accept: vec![Stmt::Stop],
        reject: vec![Stmt::Continue],
    };
    let inner = b.repeat(j, 4, vec![update, stop]);
    let (start, end) = (b.i(1), b.read(n));
    b.step().push(Stmt::For {
        index: i,
        start,
        end,
        body: vec![shrink, inner, Stmt::Break],
    });
    let (now, three) = (b.read(x), b.i(3));
    let element = b.at(held, three);
    let rising = b.op(BinaryOp::Less, now, element);
    let now = b.read(x);
    let value = b.add(Expr::Call(FunctionId(0), vec![now, rising]));
    set(&mut b, x, value);
    let value = b.read(x);
    b.program.finish.push(Stmt::Assign { var: out, value });
    insta::assert_snapshot!(text(b));
}

/// A builder with states `x y` of `f32`, `n m` of `u32` and `flag`.
fn five() -> (Builder, [VarId; 5]) {
    let mut b = Builder::default();
    let types = [Type::F32, Type::F32, Type::U32, Type::U32, Type::Bool];
    let mut names = ["x", "y", "n", "m", "flag"].into_iter();
    let vars = types.map(|ty| b.one(names.next().expect("a name"), ty, VarKind::State));
    for var in vars {
        born(&mut b, var);
    }
    (b, vars)
}

#[test]
fn arithmetic_has_the_brackets_it_needs_and_no_others() {
    use BinaryOp::{Add, Divide, Multiply, Subtract};
    let (mut b, [x, y, ..]) = five();
    for op in [Add, Divide] {
        let (p, q, r) = (b.read(y), b.read(x), b.read(y));
        let left = b.op(op, p, q);
        let value = b.op(op, left, r);
        set(&mut b, x, value);
        let (p, q, r) = (b.read(y), b.read(x), b.read(y));
        let right = b.op(op, q, r);
        let value = b.op(op, p, right);
        set(&mut b, x, value);
    }
    for (inner, outer) in [(Add, Multiply), (Multiply, Add), (Subtract, Subtract)] {
        let (p, q, s) = (b.read(y), b.read(x), b.read(y));
        let r = b.f(3.0);
        let (left, right) = (b.op(inner, p, q), b.op(inner, r, s));
        let value = b.op(outer, left, right);
        set(&mut b, x, value);
    }
    let (p, q) = (b.read(x), b.read(y));
    let minus = b.unary(UnaryOp::Negate, p);
    let minus = b.unary(UnaryOp::Negate, minus);
    let other = b.unary(UnaryOp::Negate, q);
    let value = b.op(Subtract, minus, other);
    set(&mut b, x, value);
    let (p, q, c) = (b.read(x), b.f(-1.0), b.f(2.0));
    let product = b.op(Multiply, p, q);
    let value = b.op(Subtract, product, c);
    set(&mut b, x, value);
    let expected = [
        "x = y + x + y;",
        "x = y + (x + y);",
        "x = y / x / y;",
        "x = y / (x / y);",
        "x = (y + x) * (3.0 + y);",
        "x = y * x + 3.0 * y;",
        "x = y - x - (3.0 - y);",
        "x = -(-x) - -y;",
        "x = x * -1.0 - 2.0;",
    ];
    assert_eq!(lines(&text(b), "x = "), expected);
}

#[test]
fn bits_and_logic_have_the_brackets_they_need_and_no_others() {
    use BinaryOp::{Add, And, BitAnd, BitOr, Equal, Less, Or, ShiftLeft};
    let (mut b, [x, y, n, m, flag]) = five();
    for (inner, outer) in [
        (Add, BitAnd),
        (BitAnd, BitAnd),
        (BitAnd, BitOr),
        (BitOr, ShiftLeft),
    ] {
        let (p, q, r) = (b.read(m), b.read(n), b.read(m));
        let left = b.op(inner, p, q);
        let value = b.op(outer, left, r);
        set(&mut b, n, value);
    }
    for (inner, outer) in [(And, And), (And, Or), (Or, And)] {
        let (p, q, r, s) = (b.read(x), b.read(y), b.read(flag), b.read(flag));
        let less = b.op(Less, p, q);
        let left = b.op(inner, less, r);
        let value = b.op(outer, left, s);
        set(&mut b, flag, value);
    }
    let (p, q, r, s) = (b.read(n), b.read(m), b.read(m), b.read(n));
    let (left, right) = (b.op(BitAnd, p, q), b.op(ShiftLeft, r, s));
    let less = b.op(Less, left, right);
    let flagged = b.read(flag);
    let value = b.op(Equal, less, flagged);
    set(&mut b, flag, value);
    let written = text(b);
    let expected = [
        "n = (m + n) & m;",
        "n = m & n & m;",
        "n = (m & n) | m;",
        "n = (m | n) << (m & 31u);",
    ];
    assert_eq!(lines(&written, "n = "), expected);
    let expected = [
        "flag = x < y && flag && flag;",
        "flag = (x < y && flag) || flag;",
        "flag = (x < y || flag) && flag;",
        "flag = ((n & m) < (m << (n & 31u))) == flag;",
    ];
    assert_eq!(lines(&written, "flag = "), expected);
}

#[test]
fn integers_divide_as_the_ir_means_it() {
    let mut b = Builder::default();
    let n = b.one("n", Type::I32, VarKind::State);
    let m = b.one("m", Type::U32, VarKind::State);
    born(&mut b, n);
    born(&mut b, m);
    for op in [BinaryOp::Divide, BinaryOp::Remainder] {
        for divisor in [Some(7), Some(-1), Some(0), None] {
            let y = match divisor {
                Some(by) => b.i(by),
                None => b.read(n),
            };
            let x = b.read(n);
            let value = b.op(op, x, y);
            set(&mut b, n, value);
        }
        for divisor in [Some(7), Some(0), None] {
            let y = match divisor {
                Some(by) => b.u(by),
                None => b.read(m),
            };
            let x = b.read(m);
            let value = b.op(op, x, y);
            set(&mut b, m, value);
        }
    }
    let (step, seven) = (b.add(Expr::Launch(Launch::Step)), b.i(7));
    let value = b.op(BinaryOp::Remainder, step, seven);
    set(&mut b, n, value);
    let written = text(b);
    assert_eq!(
        lines(&written, "n "),
        [
            "n /= 7;",
            "n = div_i32(n, -1);",
            "n = div_i32(n, 0);",
            "n = div_i32(n, n);",
            "n = rem_i32(n, 7);",
            "n = rem_i32(n, -1);",
            "n = rem_i32(n, 0);",
            "n = rem_i32(n, n);",
            "n = t % 7;",
        ]
    );
    assert_eq!(
        lines(&written, "m "),
        [
            "m /= 7u;",
            "m = div_u32(m, 0u);",
            "m = div_u32(m, m);",
            "m %= 7u;",
            "m = rem_u32(m, 0u);",
            "m = rem_u32(m, m);",
        ]
    );
}

#[test]
fn constants_lie_beside_the_kernel_and_known_elements_in_place() {
    let mut b = Builder::default();
    let weights = b.program.add_var(Var {
        name: "WEIGHTS".to_owned(),
        doc: "Of the three signals.".to_owned(),
        ty: Type::F32,
        len: Len::Fixed(3),
        kind: VarKind::Constant,
        word: 0,
        span: own(),
    });
    let elements = [0.5, -0.25, f64::INFINITY].map(Value::F32).to_vec();
    b.program.constants.push((weights, elements));
    let x = b.one("x", Type::F32, VarKind::State);
    born(&mut b, x);
    let (k, five) = (b.i(1), b.f(5.0));
    let known = b.at(weights, k);
    let product = b.op(BinaryOp::Multiply, known, five);
    let (step, three) = (b.add(Expr::Launch(Launch::Step)), b.i(3));
    let which = b.op(BinaryOp::Remainder, step, three);
    let other = b.at(weights, which);
    let value = b.op(BinaryOp::Add, product, other);
    set(&mut b, x, value);
    let written = text(b);
    let declared = "\
// Of the three signals.
var<private> WEIGHTS = array<f32, 3>(0.5, -0.25, f32());";
    assert!(written.contains(declared), "{written}");
    let set = "\n    WEIGHTS[2] = bitcast<f32>(runtime_u32(0x7f800000u));\n";
    assert!(written.contains(set), "{written}");
    let line = "x = runtime_f32(-0.25) * 5.0 + WEIGHTS[t % 3];";
    assert_eq!(lines(&written, "x = "), [line]);
}
