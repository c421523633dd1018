//! Runs programs by walking their trees: slow, plain, and independent of every backend.

use sim_compiler::{
    builtin::eval,
    ir::{Block, Expr, ExprId, Launch, Len, Program, Stmt, Value, VarId, VarKind},
};

/// One agent's variables.
pub struct Agent<'p> {
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
pub fn run(program: &Program, steps: i32, seed: u32) -> Vec<(String, u32)> {
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
                sim_compiler::ir::Type::F32 => Value::from_floats(&[float; 4][..ty.components()]),
                _ => Value::from_words(ty, &[hash % 7]),
            };
        }
    }
    agent.block(&program.init);
    agent.block(&program.prologue);
    for step in 0..steps {
        agent.step = step;
        if matches!(agent.block(&program.step), Flow::Stop) {
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
            Expr::RandomWord { number } => {
                let Value::U32(number) = self.value(*number) else {
                    panic!("the number of a word is no u32")
                };
                Value::U32(mix(self.step as u32, number))
            }
        }
    }
}

/// Panics unless every variable is declared before it is used, every node has one user, and every operand
/// has a fitting type.
pub fn check(program: &Program) {
    let mut used = vec![false; program.exprs.len()];
    let mut scope = vec![false; program.vars.len()];
    for (at, var) in program.vars.iter().enumerate() {
        scope[at] = matches!(
            var.kind,
            VarKind::Param
                | VarKind::Data
                | VarKind::Input
                | VarKind::State
                | VarKind::Output
                | VarKind::Argument
        );
    }
    let mut declared = scope.clone();
    for function in &program.functions {
        check_block(
            program,
            &function.body,
            &mut used,
            &mut scope,
            &mut declared,
        );
    }
    for default in &program.input_defaults {
        check_block(program, &default.body, &mut used, &mut scope, &mut declared);
    }
    check_block(program, &program.init, &mut used, &mut scope, &mut declared);
    check_block(
        program,
        &program.finish,
        &mut used,
        &mut scope,
        &mut declared,
    );
    let mut whole = program.prologue.clone();
    whole.extend(program.step.clone());
    check_block(program, &whole, &mut used, &mut scope, &mut declared);
}

fn check_block(
    program: &Program,
    block: &Block,
    used: &mut [bool],
    scope: &mut Vec<bool>,
    declared: &mut [bool],
) {
    let mut mine: Vec<VarId> = Vec::new();
    for stmt in block {
        let mut tree = |id| check_tree(program, id, used, scope);
        match stmt {
            Stmt::Let { var, value } | Stmt::Assign { var, value } => {
                tree(*value);
                assert!(program.type_of(*value) == program[*var].ty, "{stmt:?}");
            }
            Stmt::Var { value, .. } => value.iter().for_each(|&value| tree(value)),
            Stmt::AssignElement { index, value, .. } => {
                tree(*index);
                tree(*value);
            }
            Stmt::If { condition, .. } => tree(*condition),
            Stmt::For { start, end, .. } => {
                tree(*start);
                tree(*end);
            }
            Stmt::Return(value) => tree(*value),
            Stmt::Break | Stmt::Continue | Stmt::Stop => {}
        }
        match stmt {
            Stmt::Let { var, .. } | Stmt::Var { var, .. } => {
                let at = var.0 as usize;
                assert!(!declared[at], "`{}` is declared twice", program[*var].name);
                declared[at] = true;
                scope[at] = true;
                mine.push(*var);
            }
            Stmt::Assign { var, .. } | Stmt::AssignElement { var, .. } => {
                assert!(
                    scope[var.0 as usize],
                    "`{}` is out of scope",
                    program[*var].name
                );
            }
            Stmt::If { accept, reject, .. } => {
                check_block(program, accept, used, scope, declared);
                check_block(program, reject, used, scope, declared);
            }
            Stmt::For { index, body, .. } => {
                let at = index.0 as usize;
                assert!(
                    !declared[at],
                    "`{}` is declared twice",
                    program[*index].name
                );
                declared[at] = true;
                scope[at] = true;
                check_block(program, body, used, scope, declared);
                scope[at] = false;
            }
            Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_) => {}
        }
    }
    for var in mine {
        scope[var.0 as usize] = false;
    }
}

fn check_tree(program: &Program, id: ExprId, used: &mut [bool], scope: &[bool]) {
    assert!(!used[id.0 as usize], "node {id:?} has two users");
    used[id.0 as usize] = true;
    if let Expr::Read(var) | Expr::Element { array: var, .. } = &program[id] {
        let name = &program[*var].name;
        assert!(scope[var.0 as usize], "`{name}` is out of scope");
    }
    for operand in program.operands(id) {
        check_tree(program, operand, used, scope);
    }
}
