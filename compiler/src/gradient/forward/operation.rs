//! The tangents of operations, by the chain rule.

use super::{Atom, Forward};
use crate::{
    builtin::BuiltinId,
    gradient::rules::{self, Copy},
    ir::{
        BinaryOp, Expr, ExprId, Function, FunctionId, LaneOp, Type, UnaryOp, Value, VarId, VarKind,
    },
};
use std::collections::HashMap;

const COUPLED: &str = "forward mode does not take the derivative by an input from agent to agent";

impl Forward<'_> {
    /// The tangent of an operation on atoms, whose value has the name `result`; none if it is zero.
    pub(super) fn tangent(
        &mut self,
        expr: &Expr,
        atoms: &[Atom],
        result: VarId,
        k: usize,
    ) -> Option<ExprId> {
        let ty = self.program[result].ty;
        match expr {
            Expr::Element { array, .. } => self.element(*array, atoms[0], k),
            Expr::Other { var, index, .. } => {
                let by_input = self.program[self.directions[k].var].kind == VarKind::Input;
                if by_input || self.program[*var].kind == VarKind::Input {
                    self.refuse(COUPLED, self.here);
                    return None;
                }
                let member = self.write(*atoms.last().expect("a member"));
                let index = index.map(|_| self.write(atoms[0]));
                let var = self.twin(*var, k);
                Some(self.add(Expr::Other { var, index, member }))
            }
            Expr::Swizzle { components, .. } => {
                let (vector, components) = (self.of(atoms[0], k)?, components.clone());
                Some(self.add(Expr::Swizzle { vector, components }))
            }
            Expr::Compose(_) => {
                let parts = atoms.iter();
                let parts = parts.map(|part| self.tangent_or_zero(*part, k, Type::F32));
                let parts = parts.collect();
                Some(self.add(Expr::Compose(parts)))
            }
            Expr::Splat { .. } => {
                let tangent = self.of(atoms[0], k)?;
                Some(self.fitted(tangent, ty))
            }
            Expr::Convert { .. } | Expr::Unary(UnaryOp::Fence, _) => self.of(atoms[0], k),
            Expr::Unary(_, _) => {
                let tangent = self.of(atoms[0], k)?;
                Some(self.add(Expr::Unary(UnaryOp::Negate, tangent)))
            }
            Expr::Binary(op, ..) => self.binary(*op, atoms[0], atoms[1], result, k),
            Expr::Select { .. } => {
                let condition = self.write(atoms[0]);
                let accept = self.tangent_or_zero(atoms[1], k, ty);
                let reject = self.tangent_or_zero(atoms[2], k, ty);
                Some(self.add(Expr::Select {
                    condition,
                    accept,
                    reject,
                }))
            }
            Expr::Builtin(id, _) => self.builtin(*id, atoms, result, k),
            Expr::Call(function, _) => self.call(*function, atoms, k),
            Expr::AcrossWorld { op, .. } => self.across_world(*op, atoms[0], k),
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Read(_)
            | Expr::Bitcast { .. }
            | Expr::RandomWord { .. }
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. } => None,
        }
    }

    /// The tangent of a fold of the world.
    fn across_world(&mut self, op: LaneOp, value: Atom, k: usize) -> Option<ExprId> {
        let by_input = self.program[self.directions[k].var].kind == VarKind::Input;
        if by_input {
            self.refuse(COUPLED, self.here);
        }
        if op != LaneOp::Sum {
            let message = format!(
                "the derivative of a `{}` over a world is not supported: a sum or a mean is",
                op.name()
            );
            self.refuse(message, self.here);
            return None;
        }
        let value = self.of(value, k)?;
        Some(self.add(Expr::AcrossWorld { op, value }))
    }

    /// The tangent of an element of an array.
    fn element(&mut self, array: VarId, index: Atom, k: usize) -> Option<ExprId> {
        if self.of_var(array) >> k & 1 == 0 {
            return None;
        }
        let index = self.write(index);
        if self.directions[k].var != array {
            let array = self.twin(array, k);
            return Some(self.add(Expr::Element { array, index }));
        }
        let element = self.directions[k].element.unwrap_or(0);
        let this = self.add(Expr::Literal(Value::I32(element as i32)));
        let condition = self.add(Expr::Binary(BinaryOp::Equal, index, this));
        let seed = self.seed(k);
        let accept = self.add(Expr::Literal(seed));
        let reject = self.zero(seed.ty());
        Some(self.add(Expr::Select {
            condition,
            accept,
            reject,
        }))
    }

    /// A tangent that is a number as a vector of equal components, where the result is a vector.
    fn fitted(&mut self, value: ExprId, ty: Type) -> ExprId {
        match self.program.type_of(value) == ty {
            true => value,
            false => self.add(Expr::Splat { ty, value }),
        }
    }

    fn join(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        self.add(Expr::Binary(op, a, b))
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        a: Atom,
        b: Atom,
        result: VarId,
        k: usize,
    ) -> Option<ExprId> {
        let ty = self.program[result].ty;
        let (left, right) = (self.of(a, k), self.of(b, k));
        if left.is_none() && right.is_none() {
            return None;
        }
        let tangent = match op {
            BinaryOp::Add => self.sum(left, right)?,
            BinaryOp::Subtract => {
                let right = right.map(|right| self.add(Expr::Unary(UnaryOp::Negate, right)));
                self.sum(left, right)?
            }
            BinaryOp::Multiply => {
                let left = left.map(|left| {
                    let b = self.write(b);
                    self.join(BinaryOp::Multiply, left, b)
                });
                let right = right.map(|right| {
                    let a = self.write(a);
                    self.join(BinaryOp::Multiply, a, right)
                });
                self.sum(left, right)?
            }
            // (a / b)' = (a' - (a / b) b') / b
            BinaryOp::Divide => {
                let right = right.map(|right| {
                    let quotient = self.write(Atom::Var(result));
                    let product = self.join(BinaryOp::Multiply, quotient, right);
                    self.add(Expr::Unary(UnaryOp::Negate, product))
                });
                let over = self.sum(left, right)?;
                let b = self.write(b);
                self.join(BinaryOp::Divide, over, b)
            }
            // a % b = a - b trunc(a / b)
            BinaryOp::Remainder => {
                let right = right.map(|right| {
                    let (a, b) = (self.write(a), self.write(b));
                    let quotient = self.join(BinaryOp::Divide, a, b);
                    let whole = self.add(Expr::Builtin(BuiltinId::TRUNC, vec![quotient]));
                    let product = self.join(BinaryOp::Multiply, whole, right);
                    self.add(Expr::Unary(UnaryOp::Negate, product))
                });
                self.sum(left, right)?
            }
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
            | BinaryOp::ShiftRight => return None,
        };
        Some(self.fitted(tangent, ty))
    }

    fn sum(&mut self, a: Option<ExprId>, b: Option<ExprId>) -> Option<ExprId> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.join(BinaryOp::Add, a, b)),
            (one, other) => one.or(other),
        }
    }

    /// A component of an atom that is a vector; a number as it is.
    fn part(&mut self, atom: Atom, component: Option<u8>) -> ExprId {
        let value = self.write(atom);
        self.component(value, component)
    }

    fn component(&mut self, value: ExprId, component: Option<u8>) -> ExprId {
        match component.filter(|_| self.program.type_of(value).is_vector()) {
            Some(component) => self.add(Expr::Swizzle {
                vector: value,
                components: vec![component],
            }),
            None => value,
        }
    }

    fn builtin(
        &mut self,
        id: BuiltinId,
        atoms: &[Atom],
        result: VarId,
        k: usize,
    ) -> Option<ExprId> {
        if rules::text(id, 0).is_none() {
            return self.of_vectors(id, atoms, result, k);
        }
        let ty = self.program[result].ty;
        if !ty.is_vector() {
            return self.partials(id, atoms, None, k);
        }
        let mut parts = Vec::new();
        for component in 0..ty.components() {
            let part = self.partials(id, atoms, Some(component as u8), k);
            parts.push(match part {
                Some(part) => part,
                None => self.zero(Type::F32),
            });
        }
        Some(self.add(Expr::Compose(parts)))
    }

    /// The sum over the parameters of derivative times tangent, of one component of the result.
    fn partials(
        &mut self,
        id: BuiltinId,
        atoms: &[Atom],
        component: Option<u8>,
        k: usize,
    ) -> Option<ExprId> {
        let mut total = None;
        for (param, atom) in atoms.iter().enumerate() {
            let text = rules::text(id, param).filter(|text| *text != "0.0");
            let Some((text, tangent)) = text.zip(self.of(*atom, k)) else {
                continue;
            };
            let tangent = self.component(tangent, component);
            if text == "1.0" {
                total = self.sum(total, Some(tangent));
                continue;
            }
            let args = atoms.iter().map(|atom| self.part(*atom, component));
            let args: Vec<ExprId> = args.collect();
            let types = args.iter().map(|arg| self.program.type_of(*arg)).collect();
            let gradient = self.program.type_of(tangent);
            let rule = (self.rules).function(&mut self.program, id, param, types, gradient);
            let slope = self.add(Expr::Call(rule, args));
            let product = match gradient.is_vector() {
                true => self.add(Expr::Builtin(BuiltinId::DOT, vec![slope, tangent])),
                false => self.join(BinaryOp::Multiply, slope, tangent),
            };
            total = self.sum(total, Some(product));
        }
        total
    }

    /// Functions from vectors to a vector, which are not taken component by component.
    fn of_vectors(
        &mut self,
        id: BuiltinId,
        atoms: &[Atom],
        result: VarId,
        k: usize,
    ) -> Option<ExprId> {
        match id {
            BuiltinId::CROSS => {
                let left = self.of(atoms[0], k).map(|tangent| {
                    let other = self.write(atoms[1]);
                    self.add(Expr::Builtin(id, vec![tangent, other]))
                });
                let right = self.of(atoms[1], k).map(|tangent| {
                    let other = self.write(atoms[0]);
                    self.add(Expr::Builtin(id, vec![other, tangent]))
                });
                self.sum(left, right)
            }
            // n' = (v' - n (n · v')) / |v|
            BuiltinId::NORMALIZE => {
                let tangent = self.of(atoms[0], k)?;
                let tangent = self.bind("tangent", tangent);
                let (n, change) = (
                    self.write(Atom::Var(result)),
                    self.write(Atom::Var(tangent)),
                );
                let along = self.add(Expr::Builtin(BuiltinId::DOT, vec![n, change]));
                let n = self.write(Atom::Var(result));
                let along = self.join(BinaryOp::Multiply, n, along);
                let change = self.write(Atom::Var(tangent));
                let across = self.join(BinaryOp::Subtract, change, along);
                let v = self.write(atoms[0]);
                let length = self.add(Expr::Builtin(BuiltinId::LENGTH, vec![v]));
                Some(self.join(BinaryOp::Divide, across, length))
            }
            _ => {
                let message = format!(
                    "`{}` has no derivative here: write it out in its components",
                    id.row().name
                );
                self.refuse(message, self.here);
                None
            }
        }
    }

    /// The tangent of a call: a call of the function's tangent.
    fn call(&mut self, function: FunctionId, atoms: &[Atom], k: usize) -> Option<ExprId> {
        let tangents: Vec<Option<ExprId>> = atoms.iter().map(|atom| self.of(*atom, k)).collect();
        let moving: Vec<bool> = tangents.iter().map(Option::is_some).collect();
        let mut args: Vec<ExprId> = atoms.iter().map(|atom| self.write(*atom)).collect();
        args.extend(tangents.into_iter().flatten());
        let key = (function, k, moving);
        let tangent = match self.functions.get(&key) {
            Some(known) => *known,
            None => {
                let made = self.function(function, k, &key.2);
                self.functions.insert(key, made);
                made
            }
        };
        Some(self.add(Expr::Call(tangent, args)))
    }

    /// The function that returns the tangent of another: after its parameters, the tangents of those that
    /// have any.
    fn function(&mut self, id: FunctionId, k: usize, moving: &[bool]) -> FunctionId {
        let from = self.program.clone();
        let mut copy = Copy {
            from: &from,
            into: &mut self.program,
            vars: HashMap::new(),
        };
        let mut function: Function = copy.function(id);
        for (param, _) in
            (function.params.clone().into_iter().zip(moving)).filter(|(_, moves)| **moves)
        {
            *self.varied.entry(param).or_default() |= 1 << k;
            let twin = self.twin(param, k);
            function.params.push(twin);
        }
        while self.spread(&function.body) {}
        let outer = std::mem::take(&mut self.block);
        let active = std::mem::replace(&mut self.active, 1 << k);
        let returns = self.returns.replace(k);
        function.body = self.transformed(&function.body);
        (self.block, self.active, self.returns) = (outer, active, returns);
        function.name = format!("{}_d{k}", function.name);
        self.program.functions.push(function);
        FunctionId(self.program.functions.len() as u32 - 1)
    }
}
