//! Expressions, on one line; `depth` has cut those that are too deep, `wrap` breaks those too long.

use super::{Writer, literal, operator::Level, support::Support};
use crate::ir::{BinaryOp, Expr, ExprId, Launch, Owner, Type, Value, VarId};

impl<'a> Writer<'a> {
    /// Writes an expression, in parentheses if it binds less tightly than `least`.
    pub(super) fn expr(&mut self, id: ExprId, least: Level) {
        self.begin_origin(id);
        if let Some(name) = self.hoisted.get(&id) {
            self.out.push_str(name);
            return;
        }
        if self.level(id) < least {
            self.push("(");
            self.bare(id);
            self.push(")");
        } else {
            self.bare(id);
        }
    }

    fn bare(&mut self, id: ExprId) {
        let program = self.program;
        match &program[id] {
            Expr::Literal(value) => self.literal(value, false),
            Expr::Double(_) => unreachable!("no kernel is made of a program in `f64`"),
            Expr::Launch(number) => self.launch(*number),
            Expr::Rows(table) => {
                self.push("run.");
                self.out.push_str(&self.rows_names[table]);
            }
            Expr::Read(var) => self.read(*var),
            Expr::Element { array, index } => match self.constant_element(*array, *index) {
                Some(value) => self.literal(&value, false),
                None => self.element(*array, *index),
            },
            Expr::Swizzle { vector, components } => self.swizzle(*vector, components, false),
            Expr::Compose(parts) => self.compose(parts, false),
            Expr::Splat { ty, value } => self.splat(*ty, *value, false),
            Expr::Unary(op, operand) => self.unary(*op, *operand, false),
            Expr::Binary(op, a, b) => self.binary(*op, *a, *b),
            Expr::Select {
                condition,
                accept,
                reject,
            } => self.select(*condition, *accept, *reject),
            Expr::Convert { to, value } => self.convert(*to, *value),
            Expr::Bitcast { to, value } => self.bitcast(*to, *value),
            Expr::Builtin(builtin, args) => self.builtin(*builtin, args),
            Expr::Call(function, args) => {
                let name = &self.function_names[function];
                self.out.push_str(name);
                self.arguments(args);
            }
            Expr::RandomWord {
                owner,
                number,
                step,
            } => {
                self.push("random_word(");
                match step {
                    None => self.out.push_str(match owner {
                        Owner::Agent => &self.own.key,
                        Owner::World => &self.own.world.key,
                    }),
                    Some(step) => {
                        self.push("step_key(");
                        self.out.push_str(match owner {
                            Owner::Agent => &self.own.stream,
                            Owner::World => &self.own.world.stream,
                        });
                        self.push(", ");
                        self.expr(*step, Level::Lowest);
                        self.push(")");
                    }
                }
                self.push(", ");
                self.expr(*number, Level::Lowest);
                self.push(")");
            }
            Expr::AcrossLanes { op, value, .. } => self.across_lanes(*op, *value),
            Expr::Shuffle { value, lane, .. } => self.shuffle(*value, *lane),
            Expr::Other { var, index, member } => self.other(*var, *index, *member),
            Expr::AcrossWorld { op, value } => self.across_world(*op, *value),
        }
    }

    fn bitcast(&mut self, to: Type, value: ExprId) {
        self.push("bitcast<");
        self.push(literal::type_name(to));
        self.push(">(");
        self.shown(value);
        self.push(")");
    }

    /// Writes arguments in parentheses.
    pub(super) fn arguments(&mut self, args: &[ExprId]) {
        self.push("(");
        for (k, arg) in args.iter().enumerate() {
            if k > 0 {
                self.push(", ");
            }
            self.argument(*arg, k + 1 == args.len());
        }
        self.push(")");
    }

    /// Writes an argument: `f(a < b, c > d)` would begin like a list of templates.
    pub(super) fn argument(&mut self, id: ExprId, last: bool) {
        let less = matches!(
            self.program[id],
            Expr::Binary(BinaryOp::Less | BinaryOp::And | BinaryOp::Or, ..)
        );
        let least = if less && !last {
            Level::Primary
        } else {
            Level::Lowest
        };
        self.expr(id, least);
    }

    /// Would WGSL take an expression for a constant? Operators and calls never are: see
    /// [`Writer::hidden`].
    pub(super) fn is_constant(&self, id: ExprId) -> bool {
        if self.hoisted.contains_key(&id) {
            return false;
        }
        if let Expr::Unary(op, operand) = self.program[id] {
            self.is_plain_negation(op, operand)
        } else if let Expr::Element { array, index } = self.program[id] {
            self.constant_element(array, index).is_some()
        } else {
            let expr = &self.program[id];
            matches!(
                expr,
                Expr::Literal(_)
                    | Expr::Double(_)
                    | Expr::Swizzle { .. }
                    | Expr::Splat { .. }
                    | Expr::Compose(_)
            ) && (expr.operands().iter()).all(|&operand| self.is_constant(operand))
        }
    }

    /// Writes a constant such that WGSL does not take it for one.
    pub(super) fn hidden(&mut self, id: ExprId) {
        let program = self.program;
        match &program[id] {
            Expr::Literal(value) => self.literal(value, true),
            Expr::Double(_) => unreachable!("no kernel is made of a program in `f64`"),
            Expr::Swizzle { vector, components } => self.swizzle(*vector, components, true),
            Expr::Splat { ty, value } => self.splat(*ty, *value, true),
            Expr::Compose(parts) => self.compose(parts, true),
            Expr::Unary(op, operand) => self.unary(*op, *operand, true),
            Expr::Element { array, index } => match self.constant_element(*array, *index) {
                Some(value) => self.literal(&value, true),
                None => self.element(*array, *index),
            },
            Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Read(_)
            | Expr::Binary(..)
            | Expr::Select { .. }
            | Expr::Convert { .. }
            | Expr::Bitcast { .. }
            | Expr::Builtin(..)
            | Expr::Call(..)
            | Expr::RandomWord { .. }
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. }
            | Expr::AcrossWorld { .. }
            | Expr::Other { .. } => self.expr(id, Level::Primary),
        }
    }

    /// Writes an expression, hidden if it is a constant.
    pub(super) fn shown(&mut self, id: ExprId) {
        if self.is_constant(id) {
            self.hidden(id);
        } else {
            self.expr(id, Level::Lowest);
        }
    }

    /// The value of an element at a known index of an array of constants.
    pub(super) fn constant_element(&self, array: VarId, index: ExprId) -> Option<Value> {
        let program = self.program;
        let Expr::Literal(Value::I32(k)) = program[index] else {
            return None;
        };
        let mut constants = program.constants.iter();
        let (_, elements) = constants.find(|(var, _)| *var == array)?;
        elements.get(k as usize).map(|element| element.single())
    }

    pub(super) fn literal(&mut self, value: &Value, hide: bool) {
        let floats = value.floats();
        match floats {
            [] => self.scalar_literal(value, hide),
            [x] => self.float_literal(*x, hide),
            [first, rest @ ..] => {
                self.push(literal::type_name(value.ty()));
                self.push("(");
                self.float_literal(*first, hide);
                if rest.iter().any(|x| x.to_bits() != first.to_bits()) {
                    for x in rest {
                        self.push(", ");
                        self.float_literal(*x, false);
                    }
                }
                self.push(")");
            }
        }
    }

    fn scalar_literal(&mut self, value: &Value, hide: bool) {
        if hide {
            self.call(match value.ty() {
                Type::I32 => Support::RuntimeI32,
                Type::U32 => Support::RuntimeU32,
                Type::Bool => Support::RuntimeBool,
                Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => Support::RuntimeF32,
            });
            self.push("(");
        }
        literal::push_scalar(&mut self.out, value);
        if hide {
            self.push(")");
        }
    }

    /// An `f32`; one without digits comes from its bits, which also hides it.
    fn float_literal(&mut self, x: f32, hide: bool) {
        if !literal::has_digits(x) {
            self.push("bitcast<f32>(");
            self.call(Support::RuntimeU32);
            self.push(&format!("(0x{:08x}u))", x.to_bits()));
            return;
        }
        if hide {
            self.call(Support::RuntimeF32);
            self.push("(");
        }
        literal::push_f32(&mut self.out, x);
        if hide {
            self.push(")");
        }
    }

    fn launch(&mut self, number: Launch) {
        match number {
            Launch::Agent => self.out.push_str(&self.own.agent),
            Launch::Agents => self.push("run.population"),
            Launch::Steps => self.push("run.steps"),
            Launch::Step => self.out.push_str(&self.own.step),
            Launch::Lane { .. } => self.out.push_str(&self.own.lane),
            Launch::Member | Launch::Members | Launch::World => self.world_launch(number),
        }
    }

    fn swizzle(&mut self, vector: ExprId, components: &[u8], hide: bool) {
        if hide {
            self.hidden(vector);
        } else {
            self.expr(vector, Level::Primary);
        }
        self.push(".");
        self.out.extend(
            components
                .iter()
                .map(|k| char::from(b"xyzw"[usize::from(*k & 3)])),
        );
    }

    fn compose(&mut self, parts: &[ExprId], hide: bool) {
        self.push(literal::type_name(Type::float(parts.len())));
        if !hide {
            return self.arguments(parts);
        }
        self.push("(");
        for (k, part) in parts.iter().enumerate() {
            if k == 0 {
                self.hidden(*part);
            } else {
                self.push(", ");
                self.expr(*part, Level::Lowest);
            }
        }
        self.push(")");
    }

    fn splat(&mut self, ty: Type, value: ExprId, hide: bool) {
        self.push(literal::type_name(ty));
        self.push("(");
        if hide {
            self.hidden(value);
        } else {
            self.expr(value, Level::Lowest);
        }
        self.push(")");
    }

    fn select(&mut self, condition: ExprId, accept: ExprId, reject: ExprId) {
        self.push("select(");
        if [condition, accept, reject]
            .iter()
            .all(|id| self.is_constant(*id))
        {
            self.hidden(reject);
        } else {
            self.argument(reject, false);
        }
        self.push(", ");
        self.argument(accept, false);
        self.push(", ");
        self.expr(condition, Level::Lowest);
        self.push(")");
    }

    fn convert(&mut self, to: Type, value: ExprId) {
        let from = self.program.type_of(value);
        match (from, to) {
            (Type::F32, Type::I32) => self.call(Support::I32FromF32),
            (Type::F32, Type::U32) => self.call(Support::U32FromF32),
            _ => self.push(literal::type_name(to)),
        }
        self.push("(");
        self.shown(value);
        self.push(")");
    }
}
