//! Finds the draws whose arguments the launch determines, and makes the program that computes these.

use super::{
    Lowerer,
    place::{Index, Place},
};
use crate::{
    builtin::Draw,
    ir::{Block, Expr, ExprId, Launch, Len, Program, Stmt, Var, VarId, VarKind},
    launch_checks::{CheckedDraw, LaunchChecks, Phase},
    passes,
    span::Span,
};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A draw that every agent reaches.
pub(super) struct Reached {
    draw: Draw,
    /// The names of its arguments.
    args: Vec<VarId>,
    phase: Phase,
    span: Span,
}

impl Lowerer<'_> {
    /// Leaves the check of a draw's arguments to the launch, where every agent makes the draw.
    pub(super) fn check_at_launch(&mut self, draw: Draw, args: &[VarId]) {
        if !self.conditional && self.frame.is_none() {
            self.reached.push(Reached {
                draw,
                args: args.to_vec(),
                phase: self.phase,
                span: self.span,
            });
        }
    }

    /// The same for the weights of `categorical`, if they are a param.
    pub(super) fn check_weights_at_launch(&mut self, draw: Draw, weights: &Place) {
        let is_param = self.program[weights.leaves[0].var].kind == VarKind::Param;
        if !is_param || self.conditional || self.frame.is_some() {
            return;
        }
        let mut args = Vec::new();
        let names = self.nested(|lowerer| {
            for k in 0..weights.length().unwrap_or(0) {
                let weight = lowerer.load(&weights.at(Index::Constant(k)));
                args.push(lowerer.bind("weight", weight));
            }
        });
        self.names_of_checks.extend(names);
        self.check_at_launch(draw, &args);
    }

    /// The program of all checks; none if there is nothing to check.
    pub(super) fn launch_checks(&self) -> Option<LaunchChecks> {
        let mut maker = Maker::new(&self.program);
        maker.define(&self.names_of_checks);
        for default in &self.program.input_defaults {
            maker.define(&default.body);
        }
        for block in self.program.agent_blocks() {
            maker.define(block);
        }
        let draws: Vec<CheckedDraw> = (self.reached.iter())
            .filter_map(|reached| maker.draw(reached))
            .collect();
        (!draws.is_empty()).then(|| LaunchChecks {
            program: maker.program(),
            draws,
        })
    }
}

/// Makes the program that computes arguments.
struct Maker<'a> {
    from: &'a Program,
    /// The values of names, except those in nested blocks.
    values: HashMap<VarId, ExprId>,
    /// Names that the launch determines, or does not.
    decided: HashMap<VarId, bool>,
    /// Those of them that are needed, each after what it needs.
    needed: Vec<VarId>,
    outputs: Vec<VarId>,
    /// Per function: does it read nothing but its arguments, params and the launch's own numbers?
    functions: Vec<bool>,
}

impl<'a> Maker<'a> {
    fn new(from: &'a Program) -> Self {
        let mut maker = Maker {
            from,
            values: HashMap::new(),
            decided: HashMap::new(),
            needed: Vec::new(),
            outputs: Vec::new(),
            functions: Vec::new(),
        };
        for function in &from.functions {
            let decided = maker.is_of_launch(&function.body);
            maker.functions.push(decided);
        }
        maker
    }

    fn define(&mut self, block: &Block) {
        for stmt in block {
            match stmt {
                Stmt::Let { var, value } => {
                    self.values.insert(*var, *value);
                }
                Stmt::If { accept, reject, .. } => {
                    self.define(accept);
                    self.define(reject);
                }
                Stmt::For { body, .. } => self.define(body),
                Stmt::Var { .. }
                | Stmt::Assign { .. }
                | Stmt::AssignElement { .. }
                | Stmt::Break
                | Stmt::Continue
                | Stmt::Stop
                | Stmt::Return(_) => {}
            }
        }
    }

    fn draw(&mut self, reached: &Reached) -> Option<CheckedDraw> {
        // Constant arguments are the checker's.
        let open = |arg: &VarId| {
            let value = self.values.get(arg);
            value.is_some_and(|value| {
                !matches!(self.from[*value], Expr::Literal(_) | Expr::Double(_))
            })
        };
        if !reached.args.iter().any(open) {
            return None;
        }
        let mut params = BTreeSet::new();
        let mut args = Vec::new();
        for &arg in &reached.args {
            let decided = self.is_decided(arg);
            if decided {
                self.params(arg, &mut params);
                self.outputs.push(arg);
            }
            args.push(decided.then(|| self.outputs.len() as u32 - 1));
        }
        args.iter().any(Option::is_some).then(|| CheckedDraw {
            draw: reached.draw,
            args,
            phase: reached.phase,
            params: params.into_iter().collect(),
            span: [reached.span.start, reached.span.end],
        })
    }

    /// Does the launch determine the value of a name? Then it is needed, after all that it needs.
    fn is_decided(&mut self, name: VarId) -> bool {
        if let Some(&known) = self.decided.get(&name) {
            return known;
        }
        let decided = match self.values.get(&name) {
            Some(&value) => self.follows(value),
            None => false,
        };
        self.decided.insert(name, decided);
        if decided {
            self.needed.push(name);
        }
        decided
    }

    /// Does an expression depend only on params and the launch's own numbers?
    fn follows(&mut self, id: ExprId) -> bool {
        let from = self.from;
        let own = if let Expr::Read(var) = from[id] {
            let kind = from[var].kind;
            kind == VarKind::Param || kind == VarKind::Let && self.is_decided(var)
        } else if let Expr::Element { array, .. } = from[id] {
            matches!(from[array].kind, VarKind::Param | VarKind::Constant)
        } else {
            self.is_of_operands(id)
        };
        let operands = from[id].operands();
        own && deep(|| operands.iter().all(|&operand| self.follows(operand)))
    }

    /// See [`Maker::functions`]; those that a function calls are known.
    fn is_of_launch(&self, block: &Block) -> bool {
        block.iter().all(|stmt| match stmt {
            Stmt::Let { value, .. } | Stmt::Assign { value, .. } | Stmt::Return(value) => {
                self.reads_launch(*value)
            }
            Stmt::Var { value, .. } => value.is_none_or(|value| self.reads_launch(value)),
            Stmt::AssignElement { index, value, .. } => {
                self.reads_launch(*index) && self.reads_launch(*value)
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                self.reads_launch(*condition)
                    && self.is_of_launch(accept)
                    && self.is_of_launch(reject)
            }
            Stmt::For {
                start, end, body, ..
            } => self.reads_launch(*start) && self.reads_launch(*end) && self.is_of_launch(body),
            Stmt::Break | Stmt::Continue | Stmt::Stop => true,
        })
    }

    fn reads_launch(&self, id: ExprId) -> bool {
        let own = if let Expr::Read(var) | Expr::Element { array: var, .. } = self.from[id] {
            self.from[var].kind != VarKind::Data
        } else {
            self.is_of_operands(id)
        };
        let operands = self.from[id].operands();
        own && deep(|| operands.iter().all(|&operand| self.reads_launch(operand)))
    }

    /// Does the value of a node that reads no variable follow from its operands and the launch's own numbers?
    fn is_of_operands(&self, id: ExprId) -> bool {
        match &self.from[id] {
            Expr::Launch(launch) => matches!(launch, Launch::Agents | Launch::Steps),
            Expr::Call(function, _) => self.functions[function.0 as usize],
            Expr::Read(_)
            | Expr::Element { .. }
            | Expr::Rows(_)
            | Expr::RandomWord { .. }
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. }
            | Expr::AcrossWorld { .. }
            | Expr::Other { .. } => false,
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Select { .. }
            | Expr::Convert { .. }
            | Expr::Bitcast { .. }
            | Expr::Builtin(..) => true,
        }
    }

    /// The names of the params that a name's value reads.
    fn params(&self, name: VarId, found: &mut BTreeSet<String>) {
        let mut stack = vec![self.values[&name]];
        let mut seen = HashSet::new();
        while let Some(id) = stack.pop() {
            if let Expr::Read(var) | Expr::Element { array: var, .. } = &self.from[id] {
                let kind = self.from[*var].kind;
                if kind == VarKind::Param {
                    found.insert(self.from[*var].name.clone());
                } else if kind == VarKind::Let && seen.insert(*var) {
                    stack.push(self.values[var]);
                }
            }
            stack.extend_from_slice(&self.from[id].operands());
        }
    }

    /// Each name once, and one output for each argument. Nodes stay where they are in the arena: each has one
    /// user here as there.
    fn program(self) -> Program {
        let mut program = Program {
            vars: self.from.vars.clone(),
            exprs: self.from.exprs.clone(),
            spans: self.from.spans.clone(),
            constants: self.from.constants.clone(),
            params: self.from.params.clone(),
            functions: self.from.functions.clone(),
            real: self.from.real,
            ..Program::default()
        };
        for (function, decided) in program.functions.iter_mut().zip(&self.functions) {
            // Functions that read tables are not called here.
            if !decided {
                function.body.clear();
            }
        }
        for var in &mut program.vars {
            // Only those of this program are outputs here, and it has no data, inputs and states.
            let root = matches!(
                var.kind,
                VarKind::Data | VarKind::Input | VarKind::State | VarKind::Output
            );
            if root {
                var.kind = VarKind::Local;
            }
        }
        for var in &self.needed {
            let value = self.values[var];
            program.finish.push(Stmt::Let { var: *var, value });
        }
        let width = program.real.scalar().words();
        for (number, arg) in self.outputs.into_iter().enumerate() {
            let output = program.add_var(Var {
                name: "argument".to_owned(),
                doc: String::new(),
                ty: self.from[arg].ty,
                len: Len::One,
                kind: VarKind::Output,
                word: number as u32 * width,
                span: Span::default(),
            });
            program.outputs.push(output);
            let value = program.add(Expr::Read(arg), Span::default());
            program.finish.push(Stmt::Assign { var: output, value });
        }
        passes::compact(&mut program);
        program
    }
}

/// Goes one level deeper into an expression, which may be as deep as the user made it.
fn deep(f: impl FnOnce() -> bool) -> bool {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, f)
}
