//! Runs programs by walking their trees: slow, plain, and independent of every backend.

use crate::{
    builtin::eval,
    ir::{Block, Expr, ExprId, Launch, Len, Program, Stmt, Value},
};

/// One agent's variables.
pub(crate) struct Agent<'p> {
    program: &'p Program,
    values: Vec<Vec<Value>>,
    step: i32,
    steps: i32,
}

enum Flow {
    Next,
    Break,
    Continue,
    Stop,
    Return(Value),
}

/// The words of the states and outputs of an agent after so many steps, given seeds for params and inputs.
pub(crate) fn run(program: &Program, steps: i32, seed: u32) -> Vec<(String, u32)> {
    let mut agent = Agent {
        program,
        values: program
            .vars
            .iter()
            .map(|var| match var.len {
                Len::One | Len::Open { .. } => vec![Value::zero(var.ty)],
                Len::Fixed(count) => vec![Value::zero(var.ty); count as usize],
            })
            .collect(),
        step: -1,
        steps,
    };
    for (number, &var) in program.params.iter().chain(&program.inputs).enumerate() {
        let ty = program[var].ty;
        for (k, value) in agent.values[var.0 as usize].iter_mut().enumerate() {
            let hash = mix(seed, number as u32 * 1_000 + k as u32);
            let float = (hash >> 8) as f32 / 4_194_304.0 - 2.0;
            *value = match ty.scalar() {
                crate::ir::Type::F32 => Value::from_floats(&[float; 4][..ty.components()]),
                _ => Value::from_words(ty, &[hash % 7]),
            };
        }
    }
    agent.block(&program.init);
    agent.block(&program.prologue);
    for step in 0..steps {
        agent.step = step;
        let mut phases = program.phases.iter();
        if phases.any(|block| matches!(agent.block(block), Flow::Stop)) {
            break;
        }
    }
    agent.step = -2;
    agent.block(&program.finish);
    let mut words = Vec::new();
    for (kind, list) in [("state", &program.states), ("output", &program.outputs)] {
        for &var in list {
            let mut word = program[var].word;
            for value in &agent.values[var.0 as usize] {
                for bits in value.words() {
                    words.push((format!("{kind} word {word}"), canonical(value, bits)));
                    word += 1;
                }
            }
        }
    }
    words.sort();
    words
}

fn canonical(value: &Value, bits: u32) -> u32 {
    let nan = !value.floats().is_empty() && f32::from_bits(bits).is_nan();
    if nan { 0x7fc0_0000 } else { bits }
}

fn mix(a: u32, b: u32) -> u32 {
    let mut x = a.wrapping_mul(0x9e37_79b9) ^ b.wrapping_mul(0x85eb_ca6b);
    x ^= x >> 15;
    x = x.wrapping_mul(0x2c1b_3c6d);
    x ^= x >> 12;
    x.wrapping_mul(0x297a_2d39) ^ (x >> 15)
}

impl Agent<'_> {
    fn block(&mut self, block: &Block) -> Flow {
        for stmt in block {
            match self.statement(stmt) {
                Flow::Next => {}
                other => return other,
            }
        }
        Flow::Next
    }

    fn statement(&mut self, stmt: &Stmt) -> Flow {
        match stmt {
            Stmt::Let { var, value } | Stmt::Assign { var, value } => {
                let value = self.value(*value);
                self.values[var.0 as usize][0] = value;
            }
            Stmt::Var { var, value } => {
                let ty = self.program[*var].ty;
                let value = value.map_or(Value::zero(ty), |value| self.value(value));
                self.values[var.0 as usize].fill(value);
            }
            Stmt::AssignElement { var, index, value } => {
                let (index, value) = (self.index(*index), self.value(*value));
                self.values[var.0 as usize][index as usize] = value;
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                let accepted = eval::truth(self.value(*condition));
                return self.block(if accepted { accept } else { reject });
            }
            Stmt::For {
                index,
                start,
                end,
                body,
            } => {
                for round in self.index(*start)..self.index(*end) {
                    self.values[index.0 as usize][0] = Value::I32(round);
                    match self.block(body) {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => break,
                        other @ (Flow::Stop | Flow::Return(_)) => return other,
                    }
                }
            }
            Stmt::Break => return Flow::Break,
            Stmt::Continue => return Flow::Continue,
            Stmt::Stop => return Flow::Stop,
            Stmt::Return(value) => return Flow::Return(self.value(*value)),
        }
        Flow::Next
    }

    fn index(&mut self, id: ExprId) -> i32 {
        match self.value(id) {
            Value::I32(index) => index,
            other => panic!("{other:?} is no index"),
        }
    }

    fn value(&mut self, id: ExprId) -> Value {
        let program = self.program;
        let mut all =
            |ids: &[ExprId]| -> Vec<Value> { ids.iter().map(|&id| self.value(id)).collect() };
        match &program[id] {
            Expr::Literal(value) => *value,
            Expr::Launch(Launch::Agent) => Value::I32(3),
            Expr::Launch(Launch::Agents) => Value::I32(10),
            Expr::Launch(Launch::Steps) => Value::I32(self.steps),
            Expr::Launch(Launch::Step) => Value::I32(self.step),
            Expr::Rows(_) => Value::I32(1),
            Expr::Read(var) => {
                assert!(program[*var].len == Len::One);
                self.values[var.0 as usize][0]
            }
            Expr::Element { array, index } => {
                let index = self.index(*index);
                self.values[array.0 as usize][index as usize]
            }
            Expr::Swizzle { vector, components } => eval::swizzle(self.value(*vector), components),
            Expr::Compose(parts) => eval::compose(&all(parts)),
            Expr::Splat { ty, value } => eval::splat(*ty, self.value(*value)),
            Expr::Unary(op, a) => eval::unary(*op, self.value(*a)),
            Expr::Binary(op, a, b) => eval::binary(*op, self.value(*a), self.value(*b)),
            Expr::Select {
                condition,
                accept,
                reject,
            } => eval::select(
                self.value(*condition),
                self.value(*accept),
                self.value(*reject),
            ),
            Expr::Convert { to, value } => eval::convert(*to, self.value(*value)),
            Expr::Bitcast { to, value } => eval::bitcast(*to, self.value(*value)),
            Expr::Builtin(builtin, args) => (builtin.row().pure().eval)(&all(args)),
            Expr::Call(function, args) => {
                let args = all(args);
                let function = &program[*function];
                for (param, arg) in function.params.iter().zip(args) {
                    self.values[param.0 as usize][0] = arg;
                }
                match self.block(&function.body) {
                    Flow::Return(value) => value,
                    _ => panic!("a function ended without a result"),
                }
            }
            Expr::Launch(Launch::Lane { .. }) | Expr::AcrossLanes { .. } => panic!("one lane"),
            Expr::RandomWord { number } => {
                let Value::U32(number) = self.value(*number) else {
                    panic!("the number of a word is no u32")
                };
                Value::U32(mix(self.step as u32, number))
            }
        }
    }
}
