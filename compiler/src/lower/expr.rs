//! Expressions of one scalar or vector, and the places of larger ones.

use super::{
    Lowerer,
    checks::{Kept, Operands},
    place::Place,
};
use crate::{
    builtin::BuiltinId,
    check::{ir_binary, ir_unary},
    hir::{self, AgentField, BinaryOp, Constant, ExprKind, Type},
    ir::{self, Expr, ExprId, Len, RealType, Stmt, Value, VarKind},
    span::Span,
};

/// A value `if` with more IR nodes than this in its arms becomes a statement, so that only the selected arm
/// runs.
const SELECT_NODES: usize = 24;

impl Lowerer<'_> {
    /// The value of an expression of one scalar or vector, as a tree that is used once. Statements that it
    /// needs are emitted before.
    pub(super) fn scalar(&mut self, id: hir::ExprId) -> ExprId {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            if self.is_full() {
                return self.literal(Value::zero(self.value_type(id)));
            }
            let before = std::mem::replace(&mut self.span, self.model[id].span);
            let value = self.scalar_inner(id);
            self.span = before;
            value
        })
    }

    fn scalar_inner(&mut self, id: hir::ExprId) -> ExprId {
        let model = self.model;
        match &model[id].kind {
            ExprKind::Constant(constant) => self.constant_of(id, constant),
            ExprKind::State(state) if self.stage.contains_key(state) => {
                self.read(self.stage[state])
            }
            ExprKind::Local(_) | ExprKind::WorldAt(_) if *self.ty(id) == Type::Agent => {
                self.member(id)
            }
            ExprKind::Of(agent, field @ (AgentField::Member | AgentField::Agent)) => {
                self.number_of(*agent, *field)
            }
            ExprKind::Of(..)
            | ExprKind::Local(_)
            | ExprKind::Param(_)
            | ExprKind::Data(_)
            | ExprKind::Input(_)
            | ExprKind::State(_)
            | ExprKind::Index(..)
            | ExprKind::Field(..) => {
                let place = self.place(id);
                self.load(&place)
            }
            ExprKind::Launch(launch) => self.add(Expr::Launch(*launch)),
            ExprKind::Rows(data) => self.add(Expr::Rows(self.data[data.0 as usize].leaves[0].var)),
            ExprKind::Unary(op, operand) => self.unary(*op, *operand),
            ExprKind::Binary(op, a, b) => self.operator(*op, *a, *b),
            ExprKind::Convert(value) => self.conversion(id, *value),
            ExprKind::Bitcast(from) => {
                let (to, value) = (self.value_type(id), self.scalar(*from));
                self.bitcast(to, value)
            }
            ExprKind::Builtin(builtin, args) => self.builtin_call(*builtin, args),
            ExprKind::Draw(draw, args) => self.draw(*draw, args),
            ExprKind::RandomWord(number) => {
                let (owner, number) = (self.owner, self.scalar(*number));
                self.add(Expr::RandomWord {
                    owner,
                    number,
                    step: None,
                })
            }
            ExprKind::TakeWords(count) => self.take_words(*count),
            ExprKind::FoldArray(fold, array) => self.fold_array(*fold, *array),
            ExprKind::Fold(fold, over) => self.fold(id, *fold, over),
            ExprKind::Call(function, args) => self.call_value(*function, args),
            ExprKind::Compose(parts) => self.compose(parts),
            ExprKind::Splat(one) => {
                let (ty, value) = (self.value_type(id), self.scalar(*one));
                self.add(Expr::Splat { ty, value })
            }
            ExprKind::Swizzle(vector, components) => {
                let (vector, components) = (self.scalar(*vector), components.clone());
                self.add(Expr::Swizzle { vector, components })
            }
            ExprKind::If {
                branches,
                otherwise,
            } => self.if_value(branches, *otherwise),
            ExprKind::WorldAt(_)
            | ExprKind::Array(_)
            | ExprKind::Repeat(_)
            | ExprKind::Comprehension(_)
            | ExprKind::Error(_) => {
                unreachable!("the checker gave this one value")
            }
        }
    }

    fn unary(&mut self, op: hir::UnaryOp, operand: hir::ExprId) -> ExprId {
        let operand = self.scalar(operand);
        self.add(Expr::Unary(ir_unary(op), operand))
    }

    pub(super) fn value_type(&self, id: hir::ExprId) -> ir::Type {
        self.ty(id)
            .value()
            .expect("the checker gave this expression one value")
    }

    /// A constant in the model's text, with the number that it says there.
    fn constant_of(&mut self, id: hir::ExprId, constant: &Constant) -> ExprId {
        let literal = self.constant(constant);
        if let Some(&text) = self.model.texts.get(&id) {
            self.program.texts.insert(literal, text);
        }
        literal
    }

    pub(super) fn constant(&mut self, constant: &Constant) -> ExprId {
        let value = match constant {
            Constant::Value(value) => *value,
            Constant::Int(value) => Value::I32(*value as i32),
            Constant::Float(value) => Value::F32(self.model.real.nearest(*value)),
            Constant::Many(_) => unreachable!("an array is no single value"),
        };
        self.program.add_literal(value, self.span)
    }

    fn operator(&mut self, op: BinaryOp, a: hir::ExprId, b: hir::ExprId) -> ExprId {
        match op {
            BinaryOp::And | BinaryOp::Or => self.logical(op, a, b),
            BinaryOp::Power => {
                let base = self.scalar(a);
                self.power(base, b, self.model[a].span)
            }
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder
            | BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight => {
                let left = self.scalar(a);
                let right = self.scalar(b);
                let spans = [a, b].map(|operand| self.model[operand].span);
                self.operation(op, [left, right], spans)
            }
        }
    }

    /// Between scalars; from an integer to an enum, whose variants it numbers.
    fn conversion(&mut self, id: hir::ExprId, value: hir::ExprId) -> ExprId {
        let (to, value) = (self.value_type(id), self.scalar(value));
        let value = match self.model[id].ty {
            hir::Type::Enum(owner) => {
                let variants = self.model[owner].variants.len() as u32;
                self.index_below(variants, value, self.model[id].span)
            }
            _ => value,
        };
        self.convert(to, value)
    }

    /// `left op right`, for every operator but `&& || **`.
    pub(super) fn join(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> ExprId {
        let shift = matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
        let right = if shift && self.program.type_of(right) == ir::Type::I32 {
            self.add(Expr::Convert {
                to: ir::Type::U32,
                value: right,
            })
        } else {
            right
        };
        let op = ir_binary(op).expect("`**` is lowered on its own");
        self.binary(op, left, right)
    }

    /// `base ** n` for a constant n, by squaring.
    pub(super) fn power(&mut self, base: ExprId, exponent: hir::ExprId, span: Span) -> ExprId {
        if !self.checks() || !self.program.type_of(base).is_float() {
            return self.power_of(base, exponent);
        }
        let held = self.hold(base);
        let base = self.again(held);
        let value = self.power_of(base, exponent);
        self.computed(value, &[Kept::at(span, held)], Operands::ByComponent)
    }

    fn power_of(&mut self, base: ExprId, exponent: hir::ExprId) -> ExprId {
        let exponent = match &self.model[exponent].kind {
            ExprKind::Constant(constant) => constant.as_int().unwrap_or(0),
            _ => unreachable!("the checker left only constant exponents to `**`"),
        };
        let ty = self.program.type_of(base);
        if exponent == 0 {
            return match ty {
                ir::Type::U32 => self.literal(Value::U32(1)),
                _ => self.int(1),
            };
        }
        let mut square = self.bind("base", base);
        let mut result: Option<ExprId> = None;
        let mut left = exponent;
        loop {
            if left & 1 == 1 {
                let factor = self.read(square);
                result = Some(match result {
                    Some(result) => self.binary(ir::BinaryOp::Multiply, result, factor),
                    None => factor,
                });
            }
            left >>= 1;
            if left == 0 {
                return result.expect("a positive exponent has a lowest bit");
            }
            let (a, b) = (self.read(square), self.read(square));
            let next = self.binary(ir::BinaryOp::Multiply, a, b);
            square = self.bind("square", next);
        }
    }

    /// `a && b`: `b` may be evaluated anyway unless that takes statements, such as draws.
    fn logical(&mut self, op: BinaryOp, a: hir::ExprId, b: hir::ExprId) -> ExprId {
        let left = self.scalar(a);
        let mut right = None;
        let block = self.conditionally(|lowerer| right = Some(lowerer.scalar(b)));
        let right = right.expect("set by the closure above");
        if block.is_empty() {
            return self.join(op, left, right);
        }
        let result = self.local("truth", left);
        let mut body = block;
        body.push(Stmt::Assign {
            var: result,
            value: right,
        });
        let condition = self.read(result);
        let (accept, reject) = if op == BinaryOp::And {
            (body, Vec::new())
        } else {
            (Vec::new(), body)
        };
        self.emit(Stmt::If {
            condition,
            accept,
            reject,
        });
        self.read(result)
    }

    fn builtin_call(&mut self, id: BuiltinId, args: &[hir::ExprId]) -> ExprId {
        let lowered: Vec<ExprId> = args.iter().map(|&arg| self.scalar(arg)).collect();
        if id == BuiltinId::SELECT {
            let [reject, accept, condition] = lowered[..] else {
                unreachable!("`select` takes three arguments")
            };
            return self.add(Expr::Select {
                condition,
                accept,
                reject,
            });
        }
        self.checked_call(id, lowered, args)
    }

    /// A vector from scalars and vectors.
    fn compose(&mut self, parts: &[hir::ExprId]) -> ExprId {
        let mut scalars = Vec::new();
        for &part in parts {
            let value = self.scalar(part);
            let components = self.program.type_of(value).components();
            if components == 1 {
                scalars.push(value);
                continue;
            }
            let vector = self.bind("part", value);
            for k in 0..components as u8 {
                let vector = self.read(vector);
                scalars.push(self.add(Expr::Swizzle {
                    vector,
                    components: vec![k],
                }));
            }
        }
        if let [only] = scalars[..] {
            return only;
        }
        self.add(Expr::Compose(scalars))
    }

    fn if_value(
        &mut self,
        branches: &[(hir::ExprId, hir::ExprId)],
        otherwise: hir::ExprId,
    ) -> ExprId {
        let Some(((condition, accept), rest)) = branches.split_first() else {
            return self.scalar(otherwise);
        };
        let condition = self.scalar(*condition);
        let nodes = self.program.exprs.len();
        let (mut yes, mut no) = (None, None);
        let accept_block = self.conditionally(|lowerer| yes = Some(lowerer.scalar(*accept)));
        let reject_block =
            self.conditionally(|lowerer| no = Some(lowerer.if_value(rest, otherwise)));
        let (accept, reject) = yes.zip(no).expect("set by the closures above");
        let cheap = self.program.exprs.len() - nodes <= SELECT_NODES;
        if accept_block.is_empty() && reject_block.is_empty() && cheap {
            return self.add(Expr::Select {
                condition,
                accept,
                reject,
            });
        }
        let ty = self.program.type_of(accept);
        let zero = self.literal(Value::zero(ty));
        let chosen = self.local("chosen", zero);
        let with = |mut block: ir::Block, value| {
            block.push(Stmt::Assign { var: chosen, value });
            block
        };
        self.emit(Stmt::If {
            condition,
            accept: with(accept_block, accept),
            reject: with(reject_block, reject),
        });
        self.read(chosen)
    }

    /// The place of a named value, as it is: a struct of thousands of fields need not be copied for one.
    fn home(&self, id: hir::ExprId) -> Option<&Place> {
        match &self.model[id].kind {
            ExprKind::Local(local) => self.locals.get(local),
            ExprKind::Param(param) => Some(&self.params[param.0 as usize]),
            ExprKind::Input(input) => Some(&self.inputs[input.0 as usize]),
            ExprKind::State(state) => Some(&self.states[state.0 as usize]),
            _ => None,
        }
    }

    /// Where the value of an expression is stored; values without a place get one.
    pub(super) fn place(&mut self, id: hir::ExprId) -> Place {
        let model = self.model;
        match &model[id].kind {
            ExprKind::Local(local) => self.locals[local].clone(),
            ExprKind::Param(param) => self.params[param.0 as usize].clone(),
            ExprKind::Data(data) => self.data[data.0 as usize].clone(),
            ExprKind::Input(input) => self.inputs[input.0 as usize].clone(),
            ExprKind::State(state) => match self.stage.get(state) {
                Some(&var) => self.single(var, &model[id].ty),
                None => self.states[state.0 as usize].clone(),
            },
            ExprKind::Of(agent, field) => self.place_of(*agent, *field),
            ExprKind::Index(base, index) => {
                let base = self.place(*base);
                self.element(&base, *index)
            }
            ExprKind::Field(base, field) => match self.home(*base) {
                Some(place) => place.field(model, &self.fields, *field),
                None => self.place(*base).field(model, &self.fields, *field),
            },
            ExprKind::Constant(constant @ Constant::Many(_)) => {
                self.constant_place(constant, &model[id].ty)
            }
            _ => {
                let place = self.temporary("value", &model[id].ty);
                self.store_into(&place, id);
                place
            }
        }
    }

    /// A constant array or struct as a read-only place; equal ones share it.
    pub(super) fn constant_place(&mut self, constant: &Constant, ty: &Type) -> Place {
        let known = match constant {
            Constant::Many(parts) => Some((parts.as_ptr(), ty.clone())),
            Constant::Int(_) | Constant::Float(_) | Constant::Value(_) => None,
        };
        if let Some(place) = known.as_ref().and_then(|key| self.known_constants.get(key)) {
            return place.clone();
        }
        let values = self.leaf_values(constant, ty);
        let mut leaves = Vec::new();
        for (leaf, values) in super::place::leaves(self.model, ty).into_iter().zip(values) {
            let key: Vec<u32> = std::iter::once(leaf.ty as u32)
                .chain((values.iter()).flat_map(|value| value.words_of(RealType::F64)))
                .collect();
            let var = match self.constants.get(&key) {
                Some(&var) => var,
                None => {
                    let len = Len::Fixed(values.len() as u32);
                    let var = self.variable("table", leaf.ty, len, VarKind::Constant);
                    self.program.constants.push((var, values));
                    self.constants.insert(key, var);
                    var
                }
            };
            leaves.push(super::place::Leaf::whole(var, leaf.dims));
        }
        let place = Place {
            ty: ty.clone(),
            leaves,
        };
        if let Some(key) = known {
            self.known_constants.insert(key, place.clone());
        }
        place
    }

    /// The values of each leaf of a constant, in row-major order.
    pub(super) fn leaf_values(&self, constant: &Constant, ty: &Type) -> Vec<Vec<Value<f64>>> {
        let mut values = vec![Vec::new(); self.fields.count(ty)];
        self.add_leaf_values(constant, ty, &mut values);
        values
    }

    fn add_leaf_values(&self, constant: &Constant, ty: &Type, values: &mut [Vec<Value<f64>>]) {
        match (constant, ty) {
            (Constant::Many(parts), Type::Array(element, _)) => {
                parts
                    .iter()
                    .for_each(|part| self.add_leaf_values(part, element, values));
            }
            (Constant::Many(parts), Type::Struct(id)) => {
                let fields = self.model[*id].fields.iter().enumerate();
                for (part, (field, (_, ty))) in parts.iter().zip(fields) {
                    let leaves = self.fields.leaves_of(*id, field);
                    self.add_leaf_values(part, ty, &mut values[leaves]);
                }
            }
            (Constant::Value(value), _) => values[0].push(*value),
            (Constant::Int(value), _) => values[0].push(Value::I32(*value as i32)),
            (Constant::Float(value), _) => {
                values[0].push(Value::F32(self.model.real.nearest(*value)));
            }
            (Constant::Many(_), _) => unreachable!("only arrays and structs have parts"),
        }
    }
}
