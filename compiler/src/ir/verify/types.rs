//! Expressions: one user each, names in scope, and operands of the types that their operator takes.

use super::{Section, Verifier};
use crate::builtin::{Builtin, BuiltinId, Meaning, Slot};
use crate::ir::{
    BinaryOp, Expr, ExprId, FunctionId, LaneOp, Launch, Len, Owner, RealType, Type, UnaryOp, VarId,
    VarKind,
};

impl Verifier<'_> {
    /// Checks an expression, which must have this type.
    pub(super) fn expect(&mut self, root: ExprId, ty: Type) -> Result<(), String> {
        let found = self.tree(root)?;
        if found == ty {
            Ok(())
        } else {
            self.complain(&format!(
                "expression {} is {} where {} is due",
                root.0,
                found.name(),
                ty.name()
            ))
        }
    }

    /// The type of a tree of nodes, operands first. By a list rather than by recursion, because a model
    /// may nest expressions deeper than the stack.
    fn tree(&mut self, root: ExprId) -> Result<Type, String> {
        let mut order = Vec::new();
        let mut waiting = vec![root];
        while let Some(node) = waiting.pop() {
            match self.used.get_mut(node) {
                None => return self.complain(&format!("expression {} does not exist", node.0)),
                Some(used) => {
                    if std::mem::replace(used, true) {
                        return self.complain(&format!("expression {} has two users", node.0));
                    }
                }
            }
            order.push(node);
            waiting.extend_from_slice(&self.program[node].operands());
        }
        for &node in order.iter().rev() {
            let ty = self.node(node).map_err(|what| {
                format!("{what} (expression {}: {:?})", node.0, self.program[node])
            })?;
            self.types[node] = Some(ty);
        }
        Ok(self.ty(root))
    }

    /// The type of a node that was checked.
    fn ty(&self, node: ExprId) -> Type {
        self.types[node].expect("operands are checked before their user")
    }

    fn require(&self, fine: bool, what: &str) -> Result<(), String> {
        if fine { Ok(()) } else { self.complain(what) }
    }

    fn node(&self, id: ExprId) -> Result<Type, String> {
        let expr = &self.program[id];
        match expr {
            Expr::Literal(value) => Ok(value.ty()),
            Expr::Double(_) if self.program.real == RealType::F64 => Ok(Type::F32),
            Expr::Double(_) => Err("a literal in `f64` in a program in `f32`".to_owned()),
            Expr::Launch(number) => self.launch(*number),
            Expr::Rows(var) => self.rows(*var),
            Expr::Read(var) => self.read(*var),
            Expr::Element { array, index } => {
                self.readable(*array)?;
                let var = &self.program[*array];
                self.require(var.len != Len::One, "an element of what is no array")?;
                self.require(self.ty(*index) == Type::I32, "an index that is no i32")?;
                Ok(var.ty)
            }
            Expr::Swizzle { vector, components } => self.swizzle(*vector, components),
            Expr::Compose(parts) => {
                let fine = (2..=4).contains(&parts.len())
                    && parts.iter().all(|&part| self.ty(part) == Type::F32);
                self.require(fine, "a vector of other than 2 to 4 floats")?;
                Ok(Type::float(parts.len()))
            }
            Expr::Splat { ty, value } => {
                let fine = ty.is_vector() && self.ty(*value) == Type::F32;
                self.require(fine, "a splat of other than a float to a vector")?;
                Ok(*ty)
            }
            Expr::Unary(op, operand) => self.unary(*op, self.ty(*operand)),
            Expr::Binary(op, a, b) => self.binary(*op, self.ty(*a), self.ty(*b)),
            Expr::Select {
                condition,
                accept,
                reject,
            } => {
                let ty = self.ty(*accept);
                let fine = self.ty(*condition) == Type::Bool && self.ty(*reject) == ty;
                self.require(fine, "an ill-typed select")?;
                Ok(ty)
            }
            Expr::Convert { to, value } => {
                let fine = !to.is_vector() && !self.ty(*value).is_vector();
                self.require(fine, "a conversion of a vector")?;
                Ok(*to)
            }
            Expr::Bitcast { to, value } => {
                let word = |ty: Type| !ty.is_vector() && ty != Type::Bool;
                let fine = word(*to) && word(self.ty(*value));
                self.require(fine, "a bitcast of a vector or bool")?;
                Ok(*to)
            }
            Expr::Builtin(builtin, args) => self.builtin(*builtin, args),
            Expr::Call(function, args) => self.call(*function, args),
            Expr::RandomWord { owner, .. } => self.random_word(*owner, &expr.operands()),
            Expr::Other { var, index, member } => self.other(*var, *index, *member),
            Expr::AcrossWorld { op, value } => self.across_world(*op, *value),
            Expr::AcrossLanes { op, lanes, value } => {
                self.across_lanes(*lanes)?;
                self.combination(*op, self.ty(*value))
            }
            Expr::Shuffle { lanes, value, lane } => {
                self.across_lanes(*lanes)?;
                let fine = self.ty(*lane) == Type::I32;
                self.require(fine, "the number of a lane that is no i32")?;
                Ok(self.ty(*value))
            }
        }
    }

    fn read(&self, var: VarId) -> Result<Type, String> {
        self.readable(var)?;
        let var = &self.program[var];
        self.require(var.len == Len::One, "an array is read as a value")?;
        Ok(var.ty)
    }

    fn rows(&self, var: VarId) -> Result<Type, String> {
        self.exists(var)?;
        let var = &self.program[var];
        let fine = var.kind == VarKind::Data && matches!(var.len, Len::Open { .. });
        self.require(fine, "rows of what is no open table")?;
        Ok(Type::I32)
    }

    fn launch(&self, number: Launch) -> Result<Type, String> {
        let fine = number != Launch::Step || self.section.is_phase();
        self.require(fine, "the step is unknown here")?;
        if let Launch::Lane { lanes } = number {
            self.require(lanes > 1, "a lane where there is but one")?;
        }
        Ok(Type::I32)
    }

    fn across_lanes(&self, lanes: u32) -> Result<(), String> {
        let alone = matches!(
            self.section,
            Section::Function(_) | Section::InputDefault(_)
        );
        self.require(!alone, "lanes combined where each is alone")?;
        self.require(lanes > 1, "lanes where there is but one")
    }

    fn across_world(&self, op: LaneOp, value: ExprId) -> Result<Type, String> {
        let fine = self.program.owner(self.section) == Owner::World;
        self.require(fine, "agents combined outside a phase of the world")?;
        self.combination(op, self.ty(value))
    }

    fn combination(&self, op: LaneOp, ty: Type) -> Result<Type, String> {
        let fine = match op {
            LaneOp::Sum | LaneOp::Product | LaneOp::Least | LaneOp::Most => ty != Type::Bool,
            LaneOp::Any | LaneOp::All => ty == Type::Bool,
        };
        self.require(fine, "values combined in a way that their type has not")?;
        Ok(ty)
    }

    fn other(&self, var: VarId, index: Option<ExprId>, member: ExprId) -> Result<Type, String> {
        self.exists(var)?;
        let read = &self.program[var];
        let fine = matches!(read.kind, VarKind::State | VarKind::Input);
        self.require(fine, "what is read of an agent is neither state nor input")?;
        let fine = match index {
            Some(index) => read.len != Len::One && self.ty(index) == Type::I32,
            None => read.len == Len::One,
        };
        self.require(fine, "an index that does not fit what is read of an agent")?;
        self.require(
            self.ty(member) == Type::I32,
            "a place in the world that is no i32",
        )?;
        let fine = match self.section {
            Section::Phase(_) | Section::End(_) | Section::Sample(_) | Section::Finish => true,
            Section::Function(_) | Section::InputDefault(_) | Section::Init | Section::Prologue => {
                false
            }
        };
        self.require(fine, "another agent is read where there are no phases")?;
        Ok(read.ty)
    }

    fn random_word(&self, owner: Owner, words: &[ExprId]) -> Result<Type, String> {
        let fine = match self.section {
            Section::Init
            | Section::Phase(_)
            | Section::End(_)
            | Section::Finish
            | Section::InputDefault(_) => true,
            Section::Prologue | Section::Sample(_) | Section::Function(_) => false,
        };
        self.require(fine, "a draw where nothing may be drawn")?;
        let own = self.program.owner(self.section) == Owner::Agent;
        let fine = own || owner == Owner::World;
        self.require(fine, "an agent draws in a phase of the world")?;
        let fine = words.iter().all(|word| self.ty(*word) == Type::U32);
        self.require(fine, "the number or the step of a draw is no u32")?;
        Ok(Type::U32)
    }

    /// May this section read the variable?
    fn readable(&self, var: VarId) -> Result<(), String> {
        self.exists(var)?;
        let fine = match self.program[var].kind {
            VarKind::Constant | VarKind::Param => true,
            VarKind::Data => !matches!(self.section, Section::InputDefault(_)),
            VarKind::Input | VarKind::WorldInput => match self.section {
                Section::Init
                | Section::Prologue
                | Section::Phase(_)
                | Section::End(_)
                | Section::Sample(_)
                | Section::Finish => true,
                Section::Function(_) => false,
                Section::InputDefault(_) => self.own_input(var),
            },
            VarKind::State | VarKind::WorldState => match self.section {
                Section::Init
                | Section::Prologue
                | Section::Phase(_)
                | Section::End(_)
                | Section::Sample(_)
                | Section::Finish => true,
                Section::Function(_) | Section::InputDefault(_) => false,
            },
            VarKind::Output => self.section == Section::Finish,
            VarKind::WorldOutput => matches!(self.section, Section::End(_)),
            VarKind::Record | VarKind::WorldRecord => matches!(self.section, Section::Sample(_)),
            VarKind::Let | VarKind::Local | VarKind::Index | VarKind::Argument => {
                self.in_scope[var]
            }
        };
        let what = format!("{} may not be read here", self.name(var));
        self.require(fine, &what)
    }

    fn swizzle(&self, vector: ExprId, components: &[u8]) -> Result<Type, String> {
        let ty = self.ty(vector);
        let fine = ty.is_vector()
            && (1..=4).contains(&components.len())
            && components.iter().all(|&c| usize::from(c) < ty.components());
        self.require(fine, "a swizzle of components that are not there")?;
        Ok(Type::float(components.len()))
    }

    fn unary(&self, op: UnaryOp, ty: Type) -> Result<Type, String> {
        let fine = match op {
            UnaryOp::Negate => ty.is_float() || ty == Type::I32,
            UnaryOp::Not => ty == Type::Bool,
            UnaryOp::Complement => matches!(ty, Type::I32 | Type::U32),
            UnaryOp::Fence => ty.is_float(),
            UnaryOp::Keep => ty == Type::F32 && self.section == Section::Prologue,
        };
        self.require(fine, "an ill-typed operand")?;
        Ok(ty)
    }

    fn binary(&self, op: BinaryOp, a: Type, b: Type) -> Result<Type, String> {
        let integer = matches!(a, Type::I32 | Type::U32);
        let (fine, result) = match op {
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder => {
                let mixed = a.is_float() && b.is_float() && (a == Type::F32 || b == Type::F32);
                let fine = (a == b && a != Type::Bool) || mixed;
                (fine, if a == Type::F32 { b } else { a })
            }
            BinaryOp::Equal | BinaryOp::NotEqual => (a == b && !a.is_vector(), Type::Bool),
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                let fine = a == b && !a.is_vector() && a != Type::Bool;
                (fine, Type::Bool)
            }
            BinaryOp::And | BinaryOp::Or => (a == Type::Bool && b == Type::Bool, Type::Bool),
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => (a == b && integer, a),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => (integer && b == Type::U32, a),
        };
        self.require(fine, "ill-typed operands")?;
        Ok(result)
    }

    fn builtin(&self, id: BuiltinId, args: &[ExprId]) -> Result<Type, String> {
        let row: &Builtin = id.row();
        let pure = match &row.meaning {
            Meaning::Pure(pure) => pure,
            Meaning::Fold(_) | Meaning::Draw(_) | Meaning::Length => {
                return self.complain(&format!("`{}` is not lowered", row.name));
            }
        };
        let types: Vec<Type> = args.iter().map(|&arg| self.ty(arg)).collect();
        let t = (pure.params.iter().zip(&types))
            .find(|(slot, _)| **slot == Slot::T)
            .map(|(_, ty)| *ty);
        let in_class = t.is_none_or(|t| pure.class.contains(t));
        let fitting = types.len() == pure.params.len()
            && (pure.params.iter().zip(&types))
                .all(|(slot, ty)| slot.resolve(t.unwrap_or(Type::F32)) == *ty);
        let what = format!("ill-typed arguments of `{}`", row.name);
        self.require(in_class && fitting, &what)?;
        Ok(pure.result.resolve(t.unwrap_or(Type::F32)))
    }

    fn call(&self, id: FunctionId, args: &[ExprId]) -> Result<Type, String> {
        let known = self.program.functions.get(id.0 as usize);
        let Some(function) = known else {
            return self.complain("a call of a function that does not exist");
        };
        let earlier = match self.section {
            Section::Function(caller) => (id.0 as usize) < caller,
            Section::Init
            | Section::Prologue
            | Section::Phase(_)
            | Section::End(_)
            | Section::Sample(_)
            | Section::Finish
            | Section::InputDefault(_) => true,
        };
        let what = format!("`{}` is called before it stands", function.name);
        self.require(earlier, &what)?;
        let fitting = args.len() == function.params.len()
            && (args.iter().zip(&function.params))
                .all(|(&arg, &param)| self.ty(arg) == self.program[param].ty);
        let what = format!("ill-typed arguments of `{}`", function.name);
        self.require(fitting, &what)?;
        Ok(function.result)
    }
}
