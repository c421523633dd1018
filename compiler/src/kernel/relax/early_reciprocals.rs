//! Reciprocals are taken when their numbers are known, and products take the place of quotients.
//!
//! * Of `d = if c then a else b`, by which all readers divide, the reciprocal is `if c then 1 / a else 1 / b`: the
//!   division need not wait for the condition, and of a literal there is none. Where neither is a literal there are two
//!   divisions then, which pays only where each step waits for its own values.
//! * A state by which a step divides after it has changed it, and the next step before it does, has its reciprocal
//!   carried from the one to the other.
//!
//! Law: each quotient is what it was but for one rounding, and may overflow or vanish where its divisor is at the ends
//! of the range of `f32`.
//!
//! No pass of the pipeline, as it moves roundings: a kernel's schedule asks for it. What comes after it must know
//! local variables that the prologue declares.

use crate::{
    ir::{BinaryOp, Block, Expr, ExprId, Len, Program, Stmt, Type, Value, VarId, VarKind},
    passes::{
        names,
        rewrite::{assigned, blocks, operands, roots},
    },
    span::Span,
};
use std::collections::HashMap;

/// Changes what there is; returns how many reciprocals there are. `waiting` says that waiting counts, and divisions do
/// not.
pub(crate) fn run(program: &mut Program, waiting: bool) -> u32 {
    let mut step = std::mem::take(&mut program.step);
    let survey = Survey::new(program, &step);
    let changed = choices(program, &step, &survey, waiting) + carry(program, &mut step, &survey);
    program.step = step;
    changed
}

/// A division by a variable.
#[derive(Clone, Copy)]
struct Quotient {
    id: ExprId,
    /// The number of the step's own statement that it is in.
    at: usize,
    /// Does that statement itself evaluate it, and no block inside?
    outer: bool,
}

/// What a step does with its variables.
struct Survey {
    reads: Vec<usize>,
    quotients: HashMap<VarId, Vec<Quotient>>,
    /// The first and the last of the step's own statements that assign a variable, themselves or inside.
    assigned: HashMap<VarId, [usize; 2]>,
}

impl Survey {
    fn new(program: &Program, step: &Block) -> Survey {
        let mut survey = Survey {
            reads: vec![0; program.vars.len()],
            quotients: HashMap::new(),
            assigned: HashMap::new(),
        };
        for (at, stmt) in step.iter().enumerate() {
            survey.statement(program, stmt, at, true);
            let mut changed = Vec::new();
            assigned(std::slice::from_ref(stmt), &mut changed);
            for var in changed {
                survey.assigned.entry(var).or_insert([at, at])[1] = at;
            }
        }
        survey
    }

    fn statement(&mut self, program: &Program, stmt: &Stmt, at: usize, outer: bool) {
        let mut pending = roots(stmt).to_vec();
        while let Some(id) = pending.pop() {
            match program[id] {
                Expr::Read(var) => self.reads[var.0 as usize] += 1,
                Expr::Binary(BinaryOp::Divide, dividend, divisor)
                    if program.type_of(dividend) == Type::F32 =>
                {
                    if let Expr::Read(var) = program[divisor] {
                        let quotient = Quotient { id, at, outer };
                        self.quotients.entry(var).or_default().push(quotient);
                    }
                }
                _ => {}
            }
            pending.extend_from_slice(&operands(&program[id]));
        }
        for stmt in blocks(stmt).into_iter().flatten().flatten() {
            self.statement(program, stmt, at, false);
        }
    }
}

/// Divides before choosing.
fn choices(program: &mut Program, step: &Block, survey: &Survey, waiting: bool) -> u32 {
    let mut changed = 0;
    for stmt in step {
        let Stmt::Let { var, value } = *stmt else {
            continue;
        };
        let Expr::Select { accept, reject, .. } = program[value] else {
            continue;
        };
        let literal = |id: ExprId| matches!(program[id], Expr::Literal(_));
        let simple = |id: ExprId| literal(id) || matches!(program[id], Expr::Read(_));
        let Some(quotients) = survey.quotients.get(&var) else {
            continue;
        };
        let all = quotients.len() == survey.reads[var.0 as usize] && quotients.len() > 1;
        let few = waiting || literal(accept) || literal(reject);
        if !all || !few || program[var].ty != Type::F32 || !simple(accept) || !simple(reject) {
            continue;
        }
        let [accept, reject] = [accept, reject].map(|id| reciprocal(program, id));
        if let Expr::Select {
            accept: a,
            reject: b,
            ..
        } = &mut program.exprs[value.0 as usize]
        {
            (*a, *b) = (accept, reject);
        }
        multiply(program, quotients, var);
        changed += 1;
    }
    changed
}

/// Carries reciprocals of states from step to step.
fn carry(program: &mut Program, step: &mut Block, survey: &Survey) -> u32 {
    // Statements to come, and after which.
    let mut new = Vec::new();
    for state in program.states.clone() {
        let is_number = program[state].ty == Type::F32 && program[state].len == Len::One;
        let (Some(&[first, last]), Some(quotients)) =
            (survey.assigned.get(&state), survey.quotients.get(&state))
        else {
            continue;
        };
        if !is_number || !matches!(step[last], Stmt::Assign { .. }) {
            continue;
        }
        let is_before = |it: &Quotient| it.at < first || (it.at == first && it.outer);
        let (before, rest): (Vec<Quotient>, Vec<Quotient>) =
            quotients.iter().partition(|it| is_before(it));
        let after: Vec<Quotient> = rest.into_iter().filter(|it| it.at > last).collect();
        // All agents come to one of these, or a division would be there that was not.
        if before.is_empty() || !after.iter().any(|it| it.outer) {
            continue;
        }
        let name = format!("per_{}", program[state].name);
        let var = names::fresh(program, name, Type::F32, VarKind::Local);
        multiply(program, &before, var);
        multiply(program, &after, var);
        let [value, again] = [(); 2].map(|()| {
            let read = program.add(Expr::Read(state), Span::default());
            reciprocal(program, read)
        });
        let value = Some(value);
        program.prologue.push(Stmt::Var { var, value });
        new.push((last, Stmt::Assign { var, value: again }));
    }
    let changed = new.len() as u32;
    new.sort_by_key(|(last, _)| *last);
    for (last, stmt) in new.into_iter().rev() {
        step.insert(last + 1, stmt);
    }
    changed
}

/// Makes products with `var` of quotients.
fn multiply(program: &mut Program, quotients: &[Quotient], var: VarId) {
    for &Quotient { id, .. } in quotients {
        if let Expr::Binary(_, dividend, divisor) = program[id] {
            let inverse = program.add(Expr::Read(var), program.span(divisor));
            program.exprs[id.0 as usize] = Expr::Binary(BinaryOp::Multiply, dividend, inverse);
        }
    }
}

/// `1 / id`.
fn reciprocal(program: &mut Program, id: ExprId) -> ExprId {
    let span = program.span(id);
    if let Expr::Literal(Value::F32(x)) = program[id] {
        return program.add(Expr::Literal(Value::F32(1.0 / x)), span);
    }
    let one = program.add(Expr::Literal(Value::F32(1.0)), span);
    program.add(Expr::Binary(BinaryOp::Divide, one, id), span)
}
