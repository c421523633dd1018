//! Finds the integers to which a step always applies the same affine map: `s = s * 5u + 1u` in one or several
//! assignments, the state of a congruential generator. Only constants count, not params, and functions of
//! names and one `return`, with one argument that is not constant.

use crate::{
    ir::{
        Affine, BinaryOp, Expr, ExprId, Function, Len, Program, Stmt, Type, UnaryOp, Value, VarId,
    },
    passes::rewrite::assigned,
};
use std::collections::BTreeMap;

/// The map that one step applies to each such state; it may be the identity.
pub(crate) fn affine(program: &Program) -> BTreeMap<VarId, Affine> {
    let mut known = Known::new(program);
    for &var in &program.states {
        known.begin(var);
    }
    for phase in &program.phases {
        known.block(phase);
    }
    let states = program.states.iter();
    states
        .filter_map(|&var| {
            let form = known.forms.get(&var)?;
            form.is_of(var).then_some((var, form.map))
        })
        .collect()
}

/// An integer that is an affine map of a variable's initial value, or a constant.
#[derive(Clone, Copy)]
struct Form {
    /// The variable; none for a constant or a map whose factor is 0.
    of: Option<VarId>,
    map: Affine,
}

impl Form {
    fn constant(word: u32) -> Form {
        Form {
            of: None,
            map: Affine::constant(word),
        }
    }

    fn is_of(self, var: VarId) -> bool {
        self.of.is_none_or(|of| of == var)
    }

    fn then(self, next: Affine) -> Form {
        Form {
            map: self.map.then(next),
            ..self
        }
    }

    fn plus(self, other: Form) -> Option<Form> {
        let of = match (self.of, other.of) {
            (of, None) | (None, of) => of,
            (a, b) => (a == b).then_some(a)?,
        };
        let map = self.map.plus(other.map);
        Some(Form { of, map })
    }

    fn times(self, other: Form) -> Option<Form> {
        let (form, by) = match (self.of, other.of) {
            (_, None) => (self, other.map.offset),
            (None, _) => (other, self.map.offset),
            (Some(_), Some(_)) => return None,
        };
        Some(form.then(multiply(by)))
    }
}

/// `-x`
const NEGATIVE: Affine = multiply(u32::MAX);

const fn multiply(factor: u32) -> Affine {
    Affine { factor, offset: 0 }
}

/// `a << b` for a constant `b`, of which the low five bits count.
fn shift(a: Form, b: Form) -> Option<Form> {
    let count = b.of.is_none().then_some(b.map.offset % 32)?;
    Some(a.then(multiply(1 << count)))
}

/// What is known at a point of the program.
struct Known<'a> {
    program: &'a Program,
    /// By function: its result.
    functions: Vec<Option<Form>>,
    forms: BTreeMap<VarId, Form>,
}

impl Known<'_> {
    fn new(program: &Program) -> Known<'_> {
        let mut known = Known {
            program,
            functions: Vec::with_capacity(program.functions.len()),
            forms: BTreeMap::new(),
        };
        for function in &program.functions {
            let result = known.function(function);
            known.functions.push(result);
        }
        known
    }

    /// From here on a variable's value counts as its initial value.
    fn begin(&mut self, var: VarId) {
        let known = &self.program[var];
        if known.len == Len::One && matches!(known.ty, Type::I32 | Type::U32) {
            let form = Form {
                of: Some(var),
                map: Affine::IDENTITY,
            };
            self.forms.insert(var, form);
        }
    }

    fn set(&mut self, var: VarId, form: Option<Form>) {
        match form {
            Some(form) => self.forms.insert(var, form),
            None => self.forms.remove(&var),
        };
    }

    /// Follows the statements of a block without early exits.
    fn block(&mut self, block: &[Stmt]) {
        for stmt in block {
            if let Stmt::Let { var, value } | Stmt::Assign { var, value } = stmt {
                let form = self.expr(*value);
                self.set(*var, form);
            } else if let Stmt::Var { var, value } = stmt {
                let form = value.and_then(|value| self.expr(value));
                self.set(*var, form);
            } else {
                let mut changed = Vec::new();
                assigned(std::slice::from_ref(stmt), &mut changed);
                changed.into_iter().for_each(|var| self.set(var, None));
            }
        }
    }

    /// The result of a function that has no branches.
    fn function(&mut self, function: &Function) -> Option<Form> {
        let (Stmt::Return(value), names) = function.body.split_last()? else {
            return None;
        };
        let branches = |stmt: &Stmt| stmt.blocks().next().is_some();
        if names.iter().any(branches) {
            return None;
        }
        for &param in &function.params {
            self.begin(param);
        }
        self.block(names);
        let result = self.expr(*value);
        self.forms.clear();
        result
    }

    fn expr(&self, id: ExprId) -> Option<Form> {
        // A model may nest them deeper than the stack.
        stacker::maybe_grow(32 << 10, 1 << 20, || self.node(id))
    }

    fn node(&self, id: ExprId) -> Option<Form> {
        let program = self.program;
        match &program[id] {
            Expr::Literal(Value::U32(word)) => Some(Form::constant(*word)),
            Expr::Literal(Value::I32(word)) => Some(Form::constant(word.cast_unsigned())),
            Expr::Read(var) => self.forms.get(var).copied(),
            Expr::Unary(UnaryOp::Negate, value) => Some(self.expr(*value)?.then(NEGATIVE)),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.expr(*a)?, self.expr(*b)?);
                if *op == BinaryOp::Add {
                    a.plus(b)
                } else if *op == BinaryOp::Subtract {
                    a.plus(b.then(NEGATIVE))
                } else if *op == BinaryOp::Multiply {
                    a.times(b)
                } else {
                    shift(a, b).filter(|_| *op == BinaryOp::ShiftLeft)
                }
            }
            // Between integers the bits stay.
            Expr::Convert { to, value } | Expr::Bitcast { to, value } => {
                let form = self.expr(*value)?;
                matches!(to, Type::I32 | Type::U32).then_some(form)
            }
            Expr::Call(function, args) => {
                let result = self.functions[function.0 as usize]?;
                let Some(of) = result.of else {
                    return Some(result);
                };
                let params = &program[*function].params;
                let place = params.iter().position(|param| *param == of)?;
                Some(self.expr(args[place])?.then(result.map))
            }
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Element { .. }
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Unary(UnaryOp::Not | UnaryOp::Complement | UnaryOp::Fence | UnaryOp::Keep, _)
            | Expr::Select { .. }
            | Expr::Builtin(..)
            | Expr::RandomWord { .. }
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. }
            | Expr::AcrossWorld { .. }
            | Expr::Other { .. } => None,
        }
    }
}
