//! A block in both directions: statements that compute its values and keep what the way back reads, and the
//! statements of the way back.
//!
//! Every value that an operation with a derivative has gets a name when it is computed. So variables that are
//! overwritten later need not be restored: the way back reads names. A name under a condition is a variable
//! of the *frame*, the innermost body of a loop or else the whole block, whose way back begins only where all
//! of the frame is computed.

use super::{
    activity::carriers,
    adjoint::Node,
    members::{Others, Reads},
    rounds::LaunchNames,
};
use crate::{
    gradient::{
        Refused,
        forward::Atom,
        rules::{Copy, Rules},
    },
    ir::{Block, Expr, ExprId, ExprMap, Len, Program, Stmt, Type, Value, Var, VarId, VarKind},
    span::Span,
};
use std::collections::{HashMap, HashSet};

/// A program on its way to one that sweeps back.
pub(super) struct Sweep<'a> {
    /// What is differentiated: straight, see [`super::straight`].
    pub(super) source: &'a Program,
    /// What is made of it; begins as a copy.
    pub(super) program: Program,
    /// The variables of the source that carry a derivative, …
    pub(super) active: HashSet<VarId>,
    /// … and those that do so where they are read of another agent.
    pub(super) carrying: HashSet<VarId>,
    /// Per active variable what holds its adjoint: the derivative of the wanted value by it.
    pub(super) bars: HashMap<VarId, VarId>,
    /// What stands for a variable of the source in this frame; those that are not there for themselves.
    pub(super) names: HashMap<VarId, VarId>,
    /// By expression of the source, once asked: does it depend on a variable that carries a derivative?
    carries: ExprMap<Option<bool>>,
    pub(super) rules: Rules,
    /// What is written at the moment.
    pub(super) block: Block,
    /// Declarations of the frame.
    pub(super) hoisted: Block,
    /// Conditions around the current statement within the frame.
    pub(super) conditions: u32,
    /// Statements of the frame behind the current one, of each block around it.
    pub(super) rests: Vec<&'a [Stmt]>,
    pub(super) here: Span,
    pub(super) refused: Option<Refused>,
    /// Does an adjoint that is zero add nothing, whatever it is multiplied by? See [`super::adjoint`].
    pub(super) guards: Guards,
    /// Of a model with worlds: what agents read of one another, …
    pub(super) others: Others<'a>,
    /// … and the names for what depends on who runs a step, and when.
    pub(super) launch_names: Option<LaunchNames>,
}

/// Whether adjoints that may be zero are looked at before they are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guards {
    /// They are; and how often.
    On(u32),
    /// They are not.
    Off,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(source: &'a Program, active: &HashSet<VarId>) -> Sweep<'a> {
        Sweep {
            source,
            program: source.clone(),
            active: active.clone(),
            carrying: active.clone(),
            bars: HashMap::new(),
            names: HashMap::new(),
            carries: ExprMap::filled(None, source.exprs.len()),
            rules: Rules::default(),
            block: Block::new(),
            hoisted: Block::new(),
            conditions: 0,
            rests: Vec::new(),
            here: Span::default(),
            refused: None,
            guards: Guards::On(0),
            others: Others::default(),
            launch_names: None,
        }
    }

    /// Forgets which expressions depend on variables that carry a derivative: others do now.
    pub(super) fn ask_again(&mut self) {
        self.carries = ExprMap::filled(None, self.source.exprs.len());
    }

    /// The statements of a whole block, forward and back, with the declarations that they need.
    pub(super) fn frame(&mut self, block: &'a [Stmt]) -> Block {
        let outer = (
            std::mem::take(&mut self.hoisted),
            std::mem::take(&mut self.conditions),
            std::mem::take(&mut self.rests),
        );
        let (forward, back) = self.both(block);
        let hoisted = std::mem::replace(&mut self.hoisted, outer.0);
        (self.conditions, self.rests) = (outer.1, outer.2);
        [hoisted, forward, back].concat()
    }

    /// The statements of a block, forward and back.
    pub(super) fn both(&mut self, block: &'a [Stmt]) -> (Block, Block) {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.both_ways(block))
    }

    fn both_ways(&mut self, block: &'a [Stmt]) -> (Block, Block) {
        let outer = std::mem::take(&mut self.block);
        let mut back = Vec::new();
        for stmt in block {
            if let Stmt::Let { var, .. } | Stmt::Var { var, .. } = stmt
                && self.active.contains(var)
            {
                let bar = self.bar(*var, VarKind::Local);
                back.push(self.no_adjoint(bar));
            }
        }
        let mut ways = Vec::new();
        for (k, stmt) in block.iter().enumerate() {
            self.rests.push(&block[k + 1..]);
            ways.push(self.stmt(stmt));
            self.rests.pop();
        }
        back.extend(ways.into_iter().rev().flatten());
        let forward = std::mem::replace(&mut self.block, outer);
        (forward, back)
    }

    /// A new variable for the adjoint of one of the source.
    pub(super) fn bar(&mut self, var: VarId, kind: VarKind) -> VarId {
        let (ty, len) = (self.source[var].ty, self.source[var].len);
        let name = format!("{}_bar", self.source[var].name);
        let bar = self.variable(&name, ty, len, kind);
        self.bars.insert(var, bar);
        bar
    }

    pub(super) fn variable(&mut self, name: &str, ty: Type, len: Len, kind: VarKind) -> VarId {
        self.program.add_var(Var {
            name: name.to_owned(),
            doc: String::new(),
            ty,
            len,
            kind,
            word: 0,
            span: Span::default(),
        })
    }

    /// The declaration of a variable with zeros.
    pub(super) fn zeros(&mut self, var: VarId) -> Stmt {
        let value = match self.program[var].len {
            Len::One => {
                let zero = Value::zero(self.program[var].ty);
                Some(self.add(Expr::Literal(zero)))
            }
            Len::Fixed(_) | Len::Open { .. } => None,
        };
        Stmt::Var { var, value }
    }

    /// The declaration of an adjoint to which nothing is added yet.
    pub(super) fn no_adjoint(&mut self, bar: VarId) -> Stmt {
        let mut declaration = self.zeros(bar);
        if let Stmt::Var {
            value: Some(zero), ..
        } = &mut declaration
        {
            *zero = self.add(Expr::Literal(nothing(self.program[bar].ty)));
        }
        declaration
    }

    /// Writes a statement; returns its way back.
    fn stmt(&mut self, stmt: &'a Stmt) -> Block {
        match stmt {
            Stmt::Let { var, value } => {
                if let Expr::AcrossWorld { op, value } = self.source[*value] {
                    return self.across(*var, op, value);
                }
                let node = self.record(*value);
                let atom = self.write(node.atom());
                let name = self.name(&self.source[*var].name.clone(), atom);
                self.names.insert(*var, name);
                match self.bars.get(var).filter(|_| self.active.contains(var)) {
                    Some(bar) => self.back(&node, Atom::Var(*bar), false),
                    None => Block::new(),
                }
            }
            Stmt::Var { var, value } => {
                let node = value.map(|value| self.record(value));
                let value = node.as_ref().map(|node| self.write(node.atom()));
                let fresh = self.declare(*var, value);
                self.names.insert(*var, fresh);
                match (node, self.bars.get(var)) {
                    (Some(node), Some(bar)) if self.active.contains(var) => {
                        self.back(&node, Atom::Var(*bar), false)
                    }
                    (Some(_), _) | (None, _) => Block::new(),
                }
            }
            Stmt::Assign { var, value } => {
                let node = self.record(*value);
                let value = self.write(node.atom());
                let target = self.named(*var);
                self.block.push(Stmt::Assign { var: target, value });
                self.back_of_assignment(*var, None, &node)
            }
            Stmt::AssignElement { var, index, value } => {
                let index = self.fixed(*index);
                let node = self.record(*value);
                let value = self.write(node.atom());
                let place = self.write(index);
                let target = self.named(*var);
                self.block.push(Stmt::AssignElement {
                    var: target,
                    index: place,
                    value,
                });
                self.back_of_assignment(*var, Some(index), &node)
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } => self.branch(*condition, accept, reject),
            Stmt::For {
                index,
                start,
                end,
                body,
            } => self.repeat(*index, (*start, *end), body, stmt),
            // Left in a loop that may end early: the number of iterations is counted.
            Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_) => {
                unreachable!("the program is straight")
            }
        }
    }

    fn branch(&mut self, condition: ExprId, accept: &'a [Stmt], reject: &'a [Stmt]) -> Block {
        let condition = self.fixed(condition);
        self.conditions += 1;
        let (accept, back_accept) = self.both(accept);
        let (reject, back_reject) = self.both(reject);
        self.conditions -= 1;
        let forward = self.write(condition);
        self.block.push(Stmt::If {
            condition: forward,
            accept,
            reject,
        });
        if back_accept.is_empty() && back_reject.is_empty() {
            return Block::new();
        }
        let back = self.write(condition);
        vec![Stmt::If {
            condition: back,
            accept: back_accept,
            reject: back_reject,
        }]
    }

    /// Declares what stands for a variable of the source: where there are conditions, for the whole frame.
    fn declare(&mut self, var: VarId, value: Option<ExprId>) -> VarId {
        let (ty, len) = (self.source[var].ty, self.source[var].len);
        let name = self.source[var].name.clone();
        if self.conditions > 0 {
            let var = self.local(&name, ty, len);
            self.block
                .extend(value.map(|value| Stmt::Assign { var, value }));
            return var;
        }
        let var = self.variable(&name, ty, len, VarKind::Local);
        self.block.push(Stmt::Var { var, value });
        var
    }

    /// The way back of an assignment: what the variable had before has no part in what it has now.
    fn back_of_assignment(&mut self, var: VarId, index: Option<Atom>, node: &Node) -> Block {
        let Some(&bar) = self.bars.get(&var).filter(|_| self.active.contains(&var)) else {
            return Block::new();
        };
        let outer = std::mem::take(&mut self.block);
        let ty = self.source[var].ty;
        let now = self.element(bar, index);
        let now = self.bind("bar", now);
        let added = node.added_to(var, index);
        if added.is_none() {
            let value = self.add(Expr::Literal(nothing(ty)));
            self.assign(bar, index, value);
        }
        let mut out = std::mem::replace(&mut self.block, outer);
        // The adjoint of a variable that something is added to stays.
        let (node, negative) = added.unwrap_or((node, false));
        out.extend(self.back(node, Atom::Var(now), negative));
        out
    }

    /// A variable, or an element of it.
    pub(super) fn element(&mut self, var: VarId, index: Option<Atom>) -> ExprId {
        match index {
            None => self.add(Expr::Read(var)),
            Some(index) => {
                let index = self.write(index);
                self.add(Expr::Element { array: var, index })
            }
        }
    }

    pub(super) fn assign(&mut self, var: VarId, index: Option<Atom>, value: ExprId) {
        let stmt = match index {
            None => Stmt::Assign { var, value },
            Some(index) => {
                let index = self.write(index);
                Stmt::AssignElement { var, index, value }
            }
        };
        self.block.push(stmt);
    }

    /// What stands for a variable of the source here.
    pub(super) fn named(&self, var: VarId) -> VarId {
        self.names.get(&var).copied().unwrap_or(var)
    }

    pub(super) fn add(&mut self, expr: Expr) -> ExprId {
        self.program.add(expr, self.here)
    }

    pub(super) fn write(&mut self, atom: Atom) -> ExprId {
        self.add(match atom {
            Atom::Literal(value) => Expr::Literal(value),
            Atom::Var(var) => Expr::Read(var),
        })
    }

    /// Names a value in this block.
    pub(super) fn bind(&mut self, name: &str, value: ExprId) -> VarId {
        let ty = self.program.type_of(value);
        let var = self.variable(name, ty, Len::One, VarKind::Let);
        self.block.push(Stmt::Let { var, value });
        var
    }

    /// Names a value for the rest of the frame and its way back.
    pub(super) fn name(&mut self, name: &str, value: ExprId) -> VarId {
        if self.conditions == 0 {
            return self.bind(name, value);
        }
        let var = self.local(name, self.program.type_of(value), Len::One);
        self.block.push(Stmt::Assign { var, value });
        var
    }

    /// A variable of the frame.
    pub(super) fn local(&mut self, name: &str, ty: Type, len: Len) -> VarId {
        let var = self.variable(name, ty, len, VarKind::Local);
        let declaration = self.zeros(var);
        self.hoisted.push(declaration);
        var
    }

    /// A copy of an expression with the names of this frame.
    pub(super) fn copied(&mut self, id: ExprId) -> ExprId {
        let mut expr = self.source[id].clone();
        expr.map_operands(|operand| {
            stacker::maybe_grow(32 << 10, 1 << 20, || self.copied(operand))
        });
        let name = expr.variable().map(|var| self.named(var));
        if let (Some(var), Some(name)) = (expr.variable_mut(), name) {
            *var = name;
        }
        self.program.add(expr, self.source.span(id))
    }

    /// A copy of statements with the names of this frame, which keeps nothing.
    pub(super) fn plain(&mut self, block: &[Stmt]) -> Block {
        let mut copy = Copy {
            from: self.source,
            into: &mut self.program,
            vars: std::mem::take(&mut self.names),
        };
        let out = copy.block(block);
        self.names = copy.vars;
        out
    }

    /// The value of an expression whose derivative does not count.
    pub(super) fn fixed(&mut self, id: ExprId) -> Atom {
        if let Expr::Literal(value) = self.source[id] {
            return Atom::Literal(value);
        }
        if let Expr::Read(var) = self.source[id]
            && is_constant(self.source[var].kind)
        {
            return Atom::Var(self.named(var));
        }
        let value = self.copied(id);
        Atom::Var(self.name("value", value))
    }

    /// Does the value of an expression depend on a variable that carries a derivative?
    fn is_active(&mut self, id: ExprId) -> bool {
        if let Some(known) = self.carries[id] {
            return known;
        }
        let expr = &self.source[id];
        let reads_others = self.others.reads != Reads::Dropped;
        let own = if let Expr::Read(var) | Expr::Element { array: var, .. } = expr {
            self.active.contains(var)
        } else if let Expr::Other { var, .. } = expr {
            reads_others && self.carrying.contains(var)
        } else {
            false
        };
        let found = own
            || carriers(expr)
                .into_iter()
                .any(|operand| stacker::maybe_grow(32 << 10, 1 << 20, || self.is_active(operand)));
        self.carries[id] = Some(found);
        found
    }

    /// Writes the operations of an expression, each with a name for its value.
    pub(super) fn record(&mut self, id: ExprId) -> Node {
        self.here = self.source.span(id);
        if !self.is_active(id) {
            return Node::Fixed(self.fixed(id));
        }
        self.record_active(id)
    }

    fn record_active(&mut self, id: ExprId) -> Node {
        let expr = self.source[id].clone();
        if let Expr::Read(var) = expr {
            return Node::Leaf {
                var,
                index: None,
                atom: self.fixed(id),
            };
        }
        if let Expr::Element { array, index } = expr {
            let index = self.fixed(index);
            let value = self.element(self.named(array), Some(index));
            return Node::Leaf {
                var: array,
                index: Some(index),
                atom: Atom::Var(self.name("element", value)),
            };
        }
        if let Expr::Other { var, index, member } = expr {
            return self.record_other(id, var, index, member);
        }
        let passing = carriers(&expr);
        let mut children = Vec::new();
        for &operand in &*expr.operands() {
            let passes = passing.contains(&operand) && self.is_active(operand);
            children.push(match passes {
                true => stacker::maybe_grow(64 << 10, 1 << 20, || self.record_active(operand)),
                false => Node::Fixed(self.fixed(operand)),
            });
        }
        self.here = self.source.span(id);
        let mut copy = expr.clone();
        let mut next = children.iter().map(Node::atom);
        copy.map_operands(|_| self.write(next.next().expect("an atom for each")));
        let copy = self.add(copy);
        let result = self.name("value", copy);
        Node::Operation {
            expr,
            operands: children,
            result,
        }
    }
}

/// Does a variable of the kind keep its value from its declaration on?
pub(super) fn is_constant(kind: VarKind) -> bool {
    match kind {
        VarKind::Constant
        | VarKind::Param
        | VarKind::Data
        | VarKind::Input
        | VarKind::WorldInput
        | VarKind::Let
        | VarKind::Index
        | VarKind::Argument => true,
        VarKind::State
        | VarKind::Output
        | VarKind::WorldState
        | VarKind::WorldOutput
        | VarKind::Record
        | VarKind::WorldRecord
        | VarKind::Local => false,
    }
}

/// What anything may be added to without a change: the optimiser leaves such a sum out.
fn nothing(ty: Type) -> Value {
    match ty {
        Type::F32 => Value::F32(-0.0),
        Type::Vec2 => Value::Vec2([-0.0; 2]),
        Type::Vec3 => Value::Vec3([-0.0; 3]),
        Type::Vec4 => Value::Vec4([-0.0; 4]),
        Type::I32 | Type::U32 | Type::Bool => Value::zero(ty),
    }
}
