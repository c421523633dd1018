//! The way back through an expression: what the adjoint of its value adds to those of what it reads.
//!
//! For `y = f(a, b)` the adjoint of `y` times `∂f/∂a` is added to that of `a` (Griewank and Walther,
//! *Evaluating Derivatives*, 2nd edition, 2008, section 3.2). An adjoint that is exactly zero adds nothing,
//! whatever the derivative is: where the value was not used, as in the branch of a `select` that was not
//! taken, `f` may have been infinite or NaN there. The *guards* for that cost as much as the rest. Without
//! them the only other result is NaN, so that whoever finds none needs none.

use super::record::{Guards, Sweep};
use crate::{
    builtin::BuiltinId,
    gradient::{Refused, forward::Atom, refused, rules},
    ir::{BinaryOp, Block, Expr, ExprId, Stmt, Type, UnaryOp, Value, VarId},
};

/// An expression whose values have names.
pub(super) enum Node {
    /// One whose derivative does not count.
    Fixed(Atom),
    /// A variable that carries a derivative, or an element of it.
    Leaf {
        /// The variable of the source.
        var: VarId,
        /// Of an array: which element.
        index: Option<Atom>,
        /// The value.
        atom: Atom,
    },
    /// A value of another agent.
    Other {
        /// The number of the place where its adjoint is kept.
        place: usize,
        /// Whose it is, and of an array which element.
        of: (Atom, Option<Atom>),
        /// The value.
        atom: Atom,
    },
    /// An operation.
    Operation {
        /// As the source has it.
        expr: Expr,
        /// Its operands.
        operands: Vec<Node>,
        /// The name of its value.
        result: VarId,
    },
}

impl Node {
    /// The value.
    pub(super) fn atom(&self) -> Atom {
        match self {
            Node::Fixed(atom) | Node::Leaf { atom, .. } | Node::Other { atom, .. } => *atom,
            Node::Operation { result, .. } => Atom::Var(*result),
        }
    }

    fn is_fixed(&self) -> bool {
        matches!(self, Node::Fixed(_))
    }

    /// What the operation adds to a variable, or subtracts from it; none if it does anything else.
    pub(super) fn added_to(&self, to: VarId, place: Option<Atom>) -> Option<(&Node, bool)> {
        let Node::Operation { expr, operands, .. } = self else {
            return None;
        };
        let (Expr::Binary(op, ..), [left, right]) = (expr, operands.as_slice()) else {
            return None;
        };
        let is_it = |node: &Node| match node {
            Node::Leaf { var, index, .. } => *var == to && *index == place,
            Node::Fixed(_) | Node::Other { .. } | Node::Operation { .. } => false,
        };
        let (adds, subtracts) = (*op == BinaryOp::Add, *op == BinaryOp::Subtract);
        if (adds || subtracts) && is_it(left) {
            return Some((right, subtracts));
        }
        (adds && is_it(right)).then_some((left, false))
    }

    /// Is anything but sums in it?
    fn multiplies(&self) -> bool {
        let Node::Operation { expr, operands, .. } = self else {
            return false;
        };
        let adds = matches!(
            expr,
            Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, ..) | Expr::Unary(..)
        );
        let inner = |node: &Node| stacker::maybe_grow(32 << 10, 1 << 20, || node.multiplies());
        !adds || operands.iter().any(inner)
    }
}

/// The adjoint of an operation's value on its way to the operands.
#[derive(Clone, Copy)]
struct Adjoint {
    value: Atom,
    ty: Type,
    /// Is the adjoint the negative of the value? No operation computes it then: it is subtracted in the end.
    negative: bool,
    /// May it be zero, so that what it is multiplied by may be infinite or NaN?
    may_vanish: bool,
}

impl Adjoint {
    /// Its negative.
    fn negated(self) -> Adjoint {
        Adjoint {
            negative: !self.negative,
            ..self
        }
    }

    /// The same, which may be zero.
    fn vanishing(self) -> Adjoint {
        Adjoint {
            may_vanish: true,
            ..self
        }
    }
}

const ADD: BinaryOp = BinaryOp::Add;
const TIMES: BinaryOp = BinaryOp::Multiply;
const OVER: BinaryOp = BinaryOp::Divide;

impl Sweep<'_> {
    /// The way back of an expression whose value has this adjoint, or its negative.
    pub(super) fn back(&mut self, node: &Node, adjoint: Atom, negative: bool) -> Block {
        let outer = std::mem::take(&mut self.block);
        let ty = self.type_of(node.atom());
        let is_vector = ty.is_vector();
        let adjoint = Adjoint {
            value: adjoint,
            ty,
            negative,
            may_vanish: is_vector,
        };
        self.pass(node, adjoint);
        let out = std::mem::replace(&mut self.block, outer);
        if out.is_empty() || is_vector || !node.multiplies() || !self.guards() {
            return out;
        }
        let condition = self.write(adjoint.value);
        let condition = self.is_not_zero(condition);
        vec![Stmt::If {
            condition,
            accept: out,
            reject: Block::new(),
        }]
    }

    /// Is a guard to be written here?
    fn guards(&mut self) -> bool {
        match &mut self.guards {
            Guards::On(count) => {
                *count += 1;
                true
            }
            Guards::Off => false,
        }
    }

    fn type_of(&self, atom: Atom) -> Type {
        match atom {
            Atom::Literal(value) => value.ty(),
            Atom::Var(var) => self.program[var].ty,
        }
    }

    fn is_not_zero(&mut self, value: ExprId) -> ExprId {
        let zero = self.add(Expr::Literal(Value::F32(0.0)));
        self.add(Expr::Binary(BinaryOp::NotEqual, value, zero))
    }

    /// Passes the adjoint of a value on to what it was computed from.
    fn pass(&mut self, node: &Node, adjoint: Adjoint) {
        match node {
            Node::Fixed(_) => {}
            Node::Other { place, of, .. } => {
                let op = match adjoint.negative {
                    true => BinaryOp::Subtract,
                    false => ADD,
                };
                self.keep_adjoint(*place, *of, (adjoint.value, op));
            }
            Node::Leaf { var, index, .. } => {
                if let Some(&bar) = self.bars.get(var) {
                    let before = self.element(bar, *index);
                    let more = self.write(adjoint.value);
                    let op = match adjoint.negative {
                        true => BinaryOp::Subtract,
                        false => ADD,
                    };
                    let value = self.add(Expr::Binary(op, before, more));
                    self.assign(bar, *index, value);
                }
            }
            Node::Operation {
                expr,
                operands,
                result,
            } => stacker::maybe_grow(64 << 10, 1 << 20, || {
                self.operation(expr, operands, *result, adjoint);
            }),
        }
    }

    /// Passes an expression on to an operand, as one number if that is one; it comes `from` the adjoint of
    /// the operation, and has its sign.
    fn give(&mut self, node: &Node, value: ExprId, from: Adjoint) {
        if node.is_fixed() {
            return;
        }
        let ty = self.type_of(node.atom());
        let value = self.reduced(value, ty);
        let value = Atom::Var(self.bind("part", value));
        let adjoint = Adjoint {
            value,
            ty,
            may_vanish: from.may_vanish || ty.is_vector(),
            ..from
        };
        self.pass(node, adjoint);
    }

    /// The sum of a vector's components, where a number is due.
    fn reduced(&mut self, value: ExprId, ty: Type) -> ExprId {
        let given = self.program.type_of(value);
        if given == ty || !given.is_vector() {
            return value;
        }
        let vector = Atom::Var(self.bind("parts", value));
        let mut sum = self.component(vector, Some(0));
        for component in 1..given.components() {
            let next = self.component(vector, Some(component as u8));
            sum = self.add(Expr::Binary(ADD, sum, next));
        }
        sum
    }

    /// A component of an atom that is a vector; a number as it is.
    fn component(&mut self, atom: Atom, component: Option<u8>) -> ExprId {
        let value = self.write(atom);
        match component.filter(|_| self.type_of(atom).is_vector()) {
            Some(component) => self.add(Expr::Swizzle {
                vector: value,
                components: vec![component],
            }),
            None => value,
        }
    }

    /// The adjoint times what `factor` makes of it, component by component; zero where the adjoint is.
    fn scaled(
        &mut self,
        adjoint: Adjoint,
        mut factor: impl FnMut(&mut Self, ExprId, Option<u8>) -> ExprId,
    ) -> ExprId {
        let Adjoint {
            value,
            ty,
            may_vanish,
            ..
        } = adjoint;
        let mut one = |sweep: &mut Self, component: Option<u8>| {
            let own = sweep.component(value, component);
            let product = factor(sweep, own, component);
            if !may_vanish || !sweep.guards() {
                return product;
            }
            let ty = sweep.program.type_of(product);
            let own = sweep.component(value, component);
            let condition = sweep.is_not_zero(own);
            let reject = sweep.add(Expr::Literal(Value::zero(ty)));
            sweep.add(Expr::Select {
                condition,
                accept: product,
                reject,
            })
        };
        match ty.is_vector() {
            false => one(self, None),
            true => {
                let parts = 0..ty.components() as u8;
                let parts = parts.map(|component| one(self, Some(component)));
                let parts = parts.collect();
                self.add(Expr::Compose(parts))
            }
        }
    }

    /// Zero where all components of the adjoint are, else the value.
    fn unless_zero(&mut self, adjoint: Adjoint, value: ExprId) -> ExprId {
        if !self.guards() {
            return value;
        }
        let mut condition = None;
        for component in 0..adjoint.ty.components() as u8 {
            let own = self.component(adjoint.value, Some(component));
            let one = self.is_not_zero(own);
            condition = Some(match condition {
                Some(others) => self.add(Expr::Binary(BinaryOp::Or, others, one)),
                None => one,
            });
        }
        let condition = condition.expect("at least one component");
        let ty = self.program.type_of(value);
        let reject = self.add(Expr::Literal(Value::zero(ty)));
        self.add(Expr::Select {
            condition,
            accept: value,
            reject,
        })
    }

    fn operation(&mut self, expr: &Expr, operands: &[Node], result: VarId, adjoint: Adjoint) {
        match expr {
            Expr::Swizzle { components, .. } => self.swizzle(components, &operands[0], adjoint),
            Expr::Compose(_) => {
                for (component, operand) in (0..).zip(operands) {
                    let part = self.component(adjoint.value, Some(component));
                    self.give(operand, part, adjoint.vanishing());
                }
            }
            Expr::Splat { .. } | Expr::Convert { .. } | Expr::Unary(UnaryOp::Fence, _) => {
                let value = self.write(adjoint.value);
                self.give(&operands[0], value, adjoint);
            }
            Expr::Unary(..) => {
                let value = self.write(adjoint.value);
                self.give(&operands[0], value, adjoint.negated());
            }
            Expr::Binary(op, ..) => self.binary(*op, operands, result, adjoint),
            Expr::Select { .. } => self.select(operands, adjoint),
            Expr::Builtin(id, _) => self.builtin(*id, operands, result, adjoint),
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Read(_)
            | Expr::Element { .. }
            | Expr::Bitcast { .. }
            | Expr::Call(..)
            | Expr::RandomWord { .. }
            | Expr::Other { .. }
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. }
            | Expr::AcrossWorld { .. } => {}
        }
    }

    /// What each component of a vector has its adjoint from, which may be several places of the result.
    fn swizzle(&mut self, components: &[u8], operand: &Node, adjoint: Adjoint) {
        let ty = self.type_of(operand.atom());
        let mut parts = Vec::new();
        for component in 0..ty.components() as u8 {
            let places = (0..components.len()).filter(|k| components[*k] == component);
            let mut sum = None;
            for place in places {
                let part = self.component(adjoint.value, Some(place as u8));
                sum = Some(match sum {
                    Some(sum) => self.add(Expr::Binary(ADD, sum, part)),
                    None => part,
                });
            }
            parts.push(sum.unwrap_or_else(|| self.add(Expr::Literal(Value::F32(0.0)))));
        }
        let value = self.add(Expr::Compose(parts));
        self.give(operand, value, adjoint.vanishing());
    }

    /// The adjoint to the side that was taken, zero to the other one.
    fn select(&mut self, operands: &[Node], adjoint: Adjoint) {
        for (k, operand) in operands.iter().enumerate().skip(1) {
            let condition = self.write(operands[0].atom());
            let own = self.write(adjoint.value);
            let zero = self.add(Expr::Literal(Value::zero(adjoint.ty)));
            let (accept, reject) = match k {
                1 => (own, zero),
                _ => (zero, own),
            };
            let value = self.add(Expr::Select {
                condition,
                accept,
                reject,
            });
            self.give(operand, value, adjoint.vanishing());
        }
    }

    fn binary(&mut self, op: BinaryOp, operands: &[Node], result: VarId, adjoint: Adjoint) {
        let [left, right] = operands else {
            unreachable!("two operands");
        };
        let (a, b) = (left.atom(), right.atom());
        match op {
            BinaryOp::Add | BinaryOp::Subtract => {
                let value = self.write(adjoint.value);
                self.give(left, value, adjoint);
                let value = self.write(adjoint.value);
                let of_right = match op == BinaryOp::Subtract {
                    true => adjoint.negated(),
                    false => adjoint,
                };
                self.give(right, value, of_right);
            }
            BinaryOp::Multiply => {
                for (node, other) in [(left, b), (right, a)] {
                    if node.is_fixed() {
                        continue;
                    }
                    let value = self.scaled(adjoint, |sweep, own, component| {
                        let other = sweep.component(other, component);
                        sweep.add(Expr::Binary(TIMES, own, other))
                    });
                    self.give(node, value, adjoint);
                }
            }
            BinaryOp::Divide => self.divide(left, right, result, adjoint),
            BinaryOp::Remainder => self.remainder(left, right, adjoint),
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight => {}
        }
    }

    /// (a / b)' = (a' - (a / b) b') / b
    fn divide(&mut self, left: &Node, right: &Node, result: VarId, adjoint: Adjoint) {
        let b = right.atom();
        let part = self.scaled(adjoint, |sweep, own, component| {
            let b = sweep.component(b, component);
            sweep.add(Expr::Binary(OVER, own, b))
        });
        let part = Adjoint {
            value: Atom::Var(self.bind("part", part)),
            ..adjoint
        };
        let value = self.write(part.value);
        self.give(left, value, adjoint);
        if !right.is_fixed() {
            let value = self.scaled(part, |sweep, own, component| {
                let quotient = sweep.component(Atom::Var(result), component);
                sweep.add(Expr::Binary(TIMES, own, quotient))
            });
            self.give(right, value, adjoint.negated());
        }
    }

    /// a % b = a - b trunc(a / b)
    fn remainder(&mut self, left: &Node, right: &Node, adjoint: Adjoint) {
        let (a, b) = (left.atom(), right.atom());
        let value = self.write(adjoint.value);
        self.give(left, value, adjoint);
        if !right.is_fixed() {
            let value = self.scaled(adjoint, |sweep, own, component| {
                let a = sweep.component(a, component);
                let b = sweep.component(b, component);
                let quotient = sweep.add(Expr::Binary(OVER, a, b));
                let whole = Expr::Builtin(BuiltinId::TRUNC, vec![quotient]);
                let whole = sweep.add(whole);
                sweep.add(Expr::Binary(TIMES, own, whole))
            });
            self.give(right, value, adjoint.negated());
        }
    }

    fn builtin(&mut self, id: BuiltinId, operands: &[Node], result: VarId, adjoint: Adjoint) {
        if rules::text(id, 0).is_none() {
            return self.of_vectors(id, operands, result, adjoint);
        }
        let atoms: Vec<Atom> = operands.iter().map(Node::atom).collect();
        for (param, operand) in operands.iter().enumerate() {
            let text = rules::text(id, param).filter(|text| *text != "0.0");
            let Some(text) = text.filter(|_| !operand.is_fixed()) else {
                continue;
            };
            if text == "1.0" {
                let value = self.write(adjoint.value);
                self.give(operand, value, adjoint);
                continue;
            }
            let of_operand = self.type_of(operand.atom());
            let slope_type = match adjoint.ty.is_vector() {
                true => Type::F32,
                false => of_operand,
            };
            let value = self.scaled(adjoint, |sweep, own, component| {
                if let Some(slope) = sweep.slope_by_value(id, result, component) {
                    return sweep.add(Expr::Binary(TIMES, slope, own));
                }
                let args = atoms.iter().map(|atom| sweep.component(*atom, component));
                let args: Vec<ExprId> = args.collect();
                let types = args.iter().map(|arg| sweep.program.type_of(*arg)).collect();
                let program = &mut sweep.program;
                let rule = (sweep.rules).function(program, id, param, types, slope_type);
                let slope = sweep.add(Expr::Call(rule, args));
                sweep.add(Expr::Binary(TIMES, slope, own))
            });
            // A derivative that is 0 on one side: the operand may have had any value.
            let adjoint = match text.contains("select(") {
                true => adjoint.vanishing(),
                false => adjoint,
            };
            self.give(operand, value, adjoint);
        }
    }

    /// The derivative of a function by its only argument, where its value says it.
    fn slope_by_value(
        &mut self,
        id: BuiltinId,
        result: VarId,
        component: Option<u8>,
    ) -> Option<ExprId> {
        let value = |sweep: &mut Self| sweep.component(Atom::Var(result), component);
        let number = |sweep: &mut Self, number| sweep.add(Expr::Literal(Value::F32(number)));
        match id {
            BuiltinId::EXP => Some(value(self)),
            // 1 / (2 √x)
            BuiltinId::SQRT => {
                let (half, value) = (number(self, 0.5), value(self));
                Some(self.add(Expr::Binary(OVER, half, value)))
            }
            // 1 - tanh(x)²
            BuiltinId::TANH => {
                let (one, first, second) = (number(self, 1.0), value(self), value(self));
                let square = self.add(Expr::Binary(TIMES, first, second));
                Some(self.add(Expr::Binary(BinaryOp::Subtract, one, square)))
            }
            _ => None,
        }
    }

    /// Functions from vectors to a vector, which are not taken component by component.
    fn of_vectors(&mut self, id: BuiltinId, operands: &[Node], result: VarId, adjoint: Adjoint) {
        match id {
            // r · (a × b) = a · (b × r) = b · (r × a)
            BuiltinId::CROSS => {
                let [a, b] = [operands[0].atom(), operands[1].atom()];
                for (node, first, second) in [
                    (&operands[0], b, adjoint.value),
                    (&operands[1], adjoint.value, a),
                ] {
                    let args = vec![self.write(first), self.write(second)];
                    let value = self.add(Expr::Builtin(id, args));
                    let value = self.unless_zero(adjoint, value);
                    self.give(node, value, adjoint.vanishing());
                }
            }
            // n' = (v' - n (n · v')) / |v|, a symmetric map
            BuiltinId::NORMALIZE => {
                let args = vec![self.write(Atom::Var(result)), self.write(adjoint.value)];
                let along = self.add(Expr::Builtin(BuiltinId::DOT, args));
                let n = self.write(Atom::Var(result));
                let along = self.add(Expr::Binary(TIMES, n, along));
                let own = self.write(adjoint.value);
                let across = self.add(Expr::Binary(BinaryOp::Subtract, own, along));
                let v = self.write(operands[0].atom());
                let length = self.add(Expr::Builtin(BuiltinId::LENGTH, vec![v]));
                let value = self.add(Expr::Binary(OVER, across, length));
                let value = self.unless_zero(adjoint, value);
                self.give(&operands[0], value, adjoint.vanishing());
            }
            _ => {
                let message = format!(
                    "`{}` has no derivative here: write it out in its components",
                    id.row().name
                );
                let refusal = Refused {
                    span: Some(self.here),
                    ..refused(message)
                };
                self.refused.get_or_insert(refusal);
            }
        }
    }
}
