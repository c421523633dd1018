//! The interpreter on programs built by hand.

mod build;

use super::*;
use build::*;
use sim_compiler::builtin::BuiltinId;
use sim_compiler::ir::interpret::LaunchValues;
use sim_compiler::ir::{
    self, BinaryOp, Expr, InputDefault, Len, Owner, Phase, Stmt, Type, Value, VarKind,
};
use sim_compiler::manifest::STOPPED;
use sim_compiler::random::{FINISH_STEP, Generator, INIT_STEP, INPUT_STEP};

/// state n = agent; step { n = n * 3 + step; if n > limit { stop } }; output doubled = n + n
fn counter(limit: i32) -> Build {
    let mut b = Build::default();
    let n = b.one("n", Type::I32, VarKind::State);
    let doubled = b.one("doubled", Type::I32, VarKind::Output);
    let agent = b.launch(ir::Launch::Agent);
    b.program.init = vec![Stmt::Assign {
        var: n,
        value: agent,
    }];
    let (old, three, step) = (b.read(n), b.int(3), b.launch(ir::Launch::Step));
    let product = b.binary(BinaryOp::Multiply, old, three);
    let value = b.binary(BinaryOp::Add, product, step);
    let (new, bound) = (b.read(n), b.int(limit));
    let condition = b.binary(BinaryOp::Greater, new, bound);
    b.program.phases = vec![Phase::from(vec![
        Stmt::Assign { var: n, value },
        Stmt::If {
            condition,
            accept: vec![Stmt::Stop],
            reject: vec![],
        },
    ])];
    let (x, y) = (b.read(n), b.read(n));
    let value = b.binary(BinaryOp::Add, x, y);
    b.program.finish = vec![Stmt::Assign {
        var: doubled,
        value,
    }];
    b
}

#[test]
fn steps_run_until_the_end_or_a_stop() {
    let agents = run_in_parts(&counter(1000), 5, &[5]);
    for agent in 0..100_i32 {
        let (mut n, mut ran, mut stopped) = (agent, 0, false);
        while ran < 5 && !stopped {
            n = n * 3 + ran;
            ran += 1;
            stopped = n > 1000;
        }
        let k = agent as usize;
        assert_eq!(agents.states[k] as i32, n);
        assert_eq!(agents.outputs[k] as i32, 2 * n);
        let progress = Progress {
            steps: ran as u32,
            stopped,
        };
        assert_eq!(Progress::from_word(agents.progress[k]), progress);
    }
    assert!(agents.progress.iter().any(|word| word & STOPPED == 0));
    assert!(agents.progress.iter().any(|word| word & STOPPED != 0));
}

#[test]
fn a_run_in_parts_equals_one_run() {
    let build = counter(1000);
    let whole = run_in_parts(&build, 5, &[5]);
    assert_eq!(run_in_parts(&build, 5, &[2, 3, 5]), whole);
    assert_eq!(run_in_parts(&build, 5, &[1, 2, 3, 4, 5]), whole);
}

#[test]
fn no_steps_are_birth_and_finish() {
    let agents = run_in_parts(&counter(10), 0, &[0]);
    assert_eq!(agents.outputs[21], 42);
    assert_eq!(agents.progress[21], 0);
}

/// step { for k in 0..10 { if k == 2 { continue } if k == 6 { break } total += squares[k] } } with a local
/// array of squares.
#[test]
fn loops_break_and_continue_over_arrays() {
    let mut b = Build::default();
    let total = b.one("total", Type::I32, VarKind::State);
    let squares = b.var("squares", Type::I32, Len::Fixed(10), VarKind::Local);
    let (j, k) = (
        b.one("j", Type::I32, VarKind::Index),
        b.one("k", Type::I32, VarKind::Index),
    );
    let value = b.int(0);
    b.program.init = vec![Stmt::Assign { var: total, value }];
    let (index, x, y) = (b.read(j), b.read(j), b.read(j));
    let value = b.binary(BinaryOp::Multiply, x, y);
    let (start, end) = (b.int(0), b.int(10));
    let fill = Stmt::For {
        index: j,
        start,
        end,
        body: vec![Stmt::AssignElement {
            var: squares,
            index,
            value,
        }],
    };
    let mut jump = |number: i32, stmt: Stmt| {
        let (at, number) = (b.read(k), b.int(number));
        Stmt::If {
            condition: b.binary(BinaryOp::Equal, at, number),
            accept: vec![stmt],
            reject: vec![],
        }
    };
    let (skip, leave) = (jump(2, Stmt::Continue), jump(6, Stmt::Break));
    let (old, index) = (b.read(total), b.read(k));
    let square = b.element(squares, index);
    let value = b.binary(BinaryOp::Add, old, square);
    let (start, end) = (b.int(0), b.int(10));
    let sum = Stmt::For {
        index: k,
        start,
        end,
        body: vec![skip, leave, Stmt::Assign { var: total, value }],
    };
    let declare = Stmt::Var {
        var: squares,
        value: None,
    };
    b.program.phases = vec![Phase::from(vec![declare, fill, sum])];
    let agents = run_in_parts(&b, 3, &[1, 3]);
    assert!(agents.states.iter().all(|&n| n == 3 * (1 + 9 + 16 + 25)));
}

/// Words of every phase, in states of their own.
#[test]
fn draws_depend_on_seed_agent_step_and_number() {
    let mut b = Build::default();
    let born = b.one("born", Type::U32, VarKind::State);
    let walked = b.one("walked", Type::U32, VarKind::State);
    let ended = b.one("ended", Type::U32, VarKind::Output);
    let (first, zero) = (b.random(3), b.expr(Expr::Literal(Value::U32(0))));
    b.program.init = vec![
        Stmt::Assign {
            var: born,
            value: first,
        },
        Stmt::Assign {
            var: walked,
            value: zero,
        },
    ];
    let (old, word) = (b.read(walked), b.random(5));
    let value = b.binary(BinaryOp::BitXor, old, word);
    b.program.phases = vec![Phase::from(vec![Stmt::Assign { var: walked, value }])];
    let value = b.random(0);
    b.program.finish = vec![Stmt::Assign { var: ended, value }];
    let agents = run_in_parts(&b, 4, &[3, 4]);
    let word = |agent, step, number| Generator::default().draw(7, agent, step, number);
    for agent in 0..100 {
        let k = 2 * agent as usize;
        assert_eq!(agents.states[k], word(agent, INIT_STEP, 3));
        let walked = (0..4).fold(0, |sum, step| sum ^ word(agent, step, 5));
        assert_eq!(agents.states[k + 1], walked);
        assert_eq!(agents.outputs[agent as usize], word(agent, FINISH_STEP, 0));
    }
}

/// fn twice(x) { if x < 0 { return -x } return x + x }, called on its own result, with a builtin around.
#[test]
fn functions_and_builtins_are_called() {
    let mut b = Build::default();
    let x = b.one("x", Type::F32, VarKind::Argument);
    let (read, zero) = (b.read(x), b.expr(Expr::Literal(Value::F32(0.0))));
    let condition = b.binary(BinaryOp::Less, read, zero);
    let read = b.read(x);
    let negative = b.expr(Expr::Unary(ir::UnaryOp::Negate, read));
    let (p, q) = (b.read(x), b.read(x));
    let sum = b.binary(BinaryOp::Add, p, q);
    b.program.functions.push(ir::Function {
        name: "twice".to_owned(),
        doc: String::new(),
        params: vec![x],
        result: Type::F32,
        body: vec![
            Stmt::If {
                condition,
                accept: vec![Stmt::Return(negative)],
                reject: vec![],
            },
            Stmt::Return(sum),
        ],
    });
    let out = b.one("out", Type::F32, VarKind::Output);
    let id = ir::FunctionId(0);
    let start = b.expr(Expr::Literal(Value::F32(-1.5)));
    let inner = b.expr(Expr::Call(id, vec![start]));
    let outer = b.expr(Expr::Call(id, vec![inner]));
    let limit = b.expr(Expr::Literal(Value::F32(2.0)));
    let value = b.expr(Expr::Builtin(BuiltinId::MAX, vec![outer, limit]));
    b.program.finish = vec![Stmt::Assign { var: out, value }];
    let agents = run_in_parts(&b, 1, &[1]);
    assert_eq!(f32::from_bits(agents.outputs[0]), 3.0);
}

/// output area = table[rows - 1] * width + halves[1], with a param, an open table, a constant array and a
/// default input.
#[test]
fn tables_params_constants_and_defaults_are_read() {
    let mut b = Build::default();
    let table = b.var("table", Type::F32, Len::Open { stride: 2 }, VarKind::Data);
    let width = b.one("width", Type::F32, VarKind::Param);
    let halves = b.var("halves", Type::F32, Len::Fixed(2), VarKind::Constant);
    let size = b.one("size", Type::F32, VarKind::Input);
    let area = b.one("area", Type::F32, VarKind::Output);
    b.program[width].word = 9;
    b.program.data = vec![table];
    b.program.params = vec![width];
    b.program.constants = vec![(halves, vec![Value::F32(0.5), Value::F32(0.25)])];
    let (rows, two) = (b.expr(Expr::Rows(table)), b.int(2));
    let count = b.binary(BinaryOp::Multiply, rows, two);
    let one = b.int(1);
    let last = b.binary(BinaryOp::Subtract, count, one);
    let entry = b.element(table, last);
    let scale = b.read(width);
    let product = b.binary(BinaryOp::Multiply, entry, scale);
    let index = b.int(1);
    let half = b.element(halves, index);
    let sum = b.binary(BinaryOp::Add, product, half);
    let input = b.read(size);
    let value = b.binary(BinaryOp::Multiply, sum, input);
    b.program.finish = vec![Stmt::Assign { var: area, value }];
    let word = b.random(0);
    let value = b.expr(Expr::Builtin(BuiltinId::UNIT, vec![word]));
    b.program.input_defaults = vec![InputDefault {
        owner: Owner::Agent,
        input: "size".to_owned(),
        random_step: INPUT_STEP,
        body: vec![Stmt::Assign { var: size, value }],
    }];
    b.check();
    let manifest = b.manifest();
    let mut uniform = [0; 12];
    uniform[9] = 10.0_f32.to_bits();
    let words = [1.0_f32, 2.0, 3.0, 4.0].map(f32::to_bits);
    let values = LaunchValues {
        uniform: &uniform,
        data: &[&words],
        ..values(1)
    };
    let interpreter = Interpreter::new(&b.program, values);
    let mut agents = Agents::zeros(&manifest, 30, 70);
    agents.input_default(&interpreter, 0);
    agents
        .run(&interpreter, 0..1, &Control::default())
        .expect("nobody cancels");
    for k in 0..70 {
        let size = sim_compiler::random::unit(Generator::default().draw(7, 30 + k, INPUT_STEP, 0));
        let got = f32::from_bits(agents.outputs[k as usize]);
        assert_eq!(got, 40.25 * size);
    }
}

#[test]
fn a_cancelled_run_ends() {
    let build = counter(i32::MAX);
    let manifest = build.manifest();
    let interpreter = Interpreter::new(&build.program, values(u32::MAX - 9));
    let mut agents = Agents::zeros(&manifest, 0, 100);
    let control = Control::default();
    std::thread::scope(|scope| {
        let run = scope.spawn(|| agents.run(&interpreter, 0..u32::MAX - 9, &control));
        std::thread::sleep(std::time::Duration::from_millis(20));
        control
            .cancel
            .store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(run.join().expect("no panic"), Err(Cancelled));
    });
}

/// An expression and a nest of blocks far deeper than a thread's stack would take by plain recursion.
#[test]
fn depth_is_no_danger() {
    let mut b = Build::default();
    let n = b.one("n", Type::I32, VarKind::State);
    let mut sum = b.int(0);
    for _ in 0..100_000 {
        let one = b.int(1);
        sum = b.binary(BinaryOp::Add, sum, one);
    }
    b.program.init = vec![Stmt::Assign { var: n, value: sum }];
    let seven = b.int(7);
    let mut inner = vec![Stmt::Assign {
        var: n,
        value: seven,
    }];
    for _ in 0..5_000 {
        let condition = b.expr(Expr::Literal(Value::Bool(true)));
        inner = vec![Stmt::If {
            condition,
            accept: inner,
            reject: vec![],
        }];
    }
    b.program.phases = vec![Phase::from(inner)];
    assert_eq!(run_in_parts(&b, 0, &[0]).states[0], 100_000);
    assert_eq!(run_in_parts(&b, 1, &[1]).states[0], 7);
}
