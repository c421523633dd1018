//! Writes out what contains a division: `tanh`, `sigmoid`, and small functions of the model.

use crate::{
    builtin::BuiltinId,
    ir::{
        BinaryOp, Block, Expr, ExprId, FunctionMap, Program, Stmt, Type, UnaryOp, Value, VarId,
        VarKind,
    },
    kernel::{
        analysis::{bound, intervals::Intervals},
        relax::shared_reciprocals::{Search, Use, quotient},
    },
    passes::{names, rewrite::Cloner},
};

/// Nodes of a function that is written out, at most.
const MAX_NODES: usize = 32;
/// 2 log2 e.
const TWICE_LOG2_E: f32 = 2.0 * std::f32::consts::LOG2_E;
/// `tanh` is 1 to the last bit where 2^x, x below this, is more than 2^26; the square of 2^x + 1 is finite.
const TANH_BOUND: f32 = 57.7;
/// `sigmoid` is at least 2^-62 and not 0: the square of 2^62 + 1 is finite, and its reciprocal is normal.
const SIGMOID_BOUND: f32 = 62.0;

impl Search {
    /// Writes out what a block's own statements contain, unless pairs are to follow and there is only one
    /// division. Was anything written out?
    pub(crate) fn expand(&mut self, program: &mut Program, block: &mut Block) -> bool {
        let (mut held, mut quotients) = (0, 0);
        for stmt in block.iter() {
            for id in program.nodes_of(stmt) {
                held += u32::from(self.holds_division(program, id));
                quotients += u32::from(quotient(program, id).is_some());
            }
        }
        if held == 0 || (self.quotients == Use::Pairs && held + quotients < 2) {
            return false;
        }
        let mut new = Vec::with_capacity(block.len());
        for stmt in std::mem::take(block) {
            for &root in stmt.roots().iter() {
                self.tree(program, root, &mut new);
            }
            new.push(stmt);
        }
        *block = new;
        true
    }

    fn holds_division(&self, program: &Program, id: ExprId) -> bool {
        if let Expr::Call(function, _) = program[id] {
            return self.expandable[function];
        }
        activation(program, id).is_some()
    }

    /// Writes out what a tree contains; the names that this needs go into `names`.
    fn tree(&self, program: &mut Program, id: ExprId, names: &mut Block) {
        for &operand in program[id].operands().iter() {
            self.tree(program, operand, names);
        }
        if let Some((which, arg)) = activation(program, id) {
            let quotient = which.written_out(program, arg, id, self.quotients);
            program[id] = quotient;
            return;
        }
        let Expr::Call(function, args) = &program[id] else {
            return;
        };
        if !self.expandable[function] {
            return;
        }
        let (args, function) = (args.clone(), program[*function].clone());
        let mut cloner = Cloner::default();
        for (&param, value) in function.params.iter().zip(args) {
            let name = program[param].name.clone();
            let var = names::fresh(program, name, Type::F32, VarKind::Let);
            names.push(Stmt::Let { var, value });
            cloner.rename(param, var);
        }
        for stmt in cloner.block(program, &function.body) {
            let (Stmt::Let { value, .. } | Stmt::Return(value)) = stmt else {
                unreachable!("such a function has no other statements")
            };
            self.tree(program, value, names);
            if let Stmt::Return(_) = stmt {
                program[id] = program[value].clone();
            } else {
                names.push(stmt);
            }
        }
    }
}

/// A builtin with a division in it.
#[derive(Clone, Copy)]
enum Activation {
    Tanh,
    Sigmoid,
}

/// Is it such a builtin of a number? Also its argument.
fn activation(program: &Program, id: ExprId) -> Option<(Activation, ExprId)> {
    let Expr::Builtin(builtin, args) = &program[id] else {
        return None;
    };
    let which = match builtin {
        _ if *builtin == BuiltinId::TANH => Activation::Tanh,
        _ if *builtin == BuiltinId::SIGMOID => Activation::Sigmoid,
        _ => return None,
    };
    let arg = *args.first()?;
    (program.type_of(arg) == Type::F32).then_some((which, arg))
}

impl Activation {
    /// `1 - 2 / (e^2x + 1)` or `1 / (1 + e^-x)`: the factor of x may move on into weights. NaN stays NaN.
    fn written_out(
        self,
        program: &mut Program,
        arg: ExprId,
        place: ExprId,
        quotients: Use,
    ) -> Expr {
        let span = program.span(place);
        let (factor, bound) = match self {
            Activation::Tanh => (TWICE_LOG2_E, TANH_BOUND),
            Activation::Sigmoid => (-std::f32::consts::LOG2_E, SIGMOID_BOUND),
        };
        // A number over infinity is 0.
        let bounded = quotients
            != (Use::Alone {
                has_infinities: true,
            });
        let factor = if bounded { -factor } else { factor };
        let [factor, one, dividend] =
            [factor, 1.0, self.dividend()].map(|x| program.add(Expr::Literal(Value::F32(x)), span));
        let mut exponent = program.add(Expr::Binary(BinaryOp::Multiply, factor, arg), span);
        if bounded {
            let bounded = bound::at_least(program, exponent, -bound);
            exponent = program.add(Expr::Unary(UnaryOp::Negate, bounded), span);
        }
        let power = Expr::Builtin(BuiltinId::EXP2, vec![exponent]);
        let power = program.add(power, span);
        let divisor = program.add(Expr::Binary(BinaryOp::Add, power, one), span);
        let quotient = Expr::Binary(BinaryOp::Divide, dividend, divisor);
        match self {
            Activation::Sigmoid => quotient,
            Activation::Tanh => {
                let one = program.add(Expr::Literal(Value::F32(1.0)), span);
                let quotient = program.add(quotient, span);
                Expr::Binary(BinaryOp::Subtract, one, quotient)
            }
        }
    }

    fn dividend(self) -> f32 {
        match self {
            Activation::Tanh => 2.0,
            Activation::Sigmoid => 1.0,
        }
    }
}

/// Which functions are inlined: small ones of numbers, without branches, with one division or more that might
/// share a reciprocal.
pub(crate) fn functions(program: &Program) -> FunctionMap<bool> {
    let mut intervals = Intervals::new(program);
    let mut expandable = FunctionMap::default();
    // Including what is written out in them.
    let mut sizes: FunctionMap<usize> = FunctionMap::default();
    for function in &program.functions {
        let scalar = |var: &VarId| program[*var].ty == Type::F32;
        let mut fits = function.result == Type::F32 && function.params.iter().all(scalar);
        let (mut size, mut divides) = (0, false);
        for stmt in &function.body {
            fits &= matches!(stmt, Stmt::Let { .. } | Stmt::Return(_));
            for id in program.nodes_of(stmt) {
                if let Expr::Call(inner, _) = program[id]
                    && expandable[inner]
                {
                    size += sizes[inner];
                    divides = true;
                } else {
                    size += 1;
                }
                divides |= activation(program, id).is_some();
                divides |= quotient(program, id)
                    .and_then(|(_, divisor)| intervals.of(program, divisor))
                    .is_some_and(|interval| interval.is_finite());
            }
            if let Stmt::Let { var, value } = stmt {
                intervals.name(program, *var, *value);
            }
        }
        expandable.push(fits && divides && size <= MAX_NODES);
        sizes.push(size);
    }
    expandable
}
