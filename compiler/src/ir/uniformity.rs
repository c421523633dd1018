//! Uniformity: who shares a value. A backend computes uniform values once for all agents.
//!
//! Invariant: in a run, an expression of scope `Run` has one value, of scope `Step` one in each step,
//! whatever the agent; and what is not `by_lane` has the same value in all lanes of an agent. A value may be
//! shared by more than the analysis says, never by fewer.

use super::{
    Block, Expr, ExprId, ExprMap, Function, FunctionMap, Launch, Len, Owner, Program, Stmt, Var,
    VarId, VarKind, VarMap,
};

/// Who shares a value, from the most to the fewest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Everyone: the compiler knows it.
    #[default]
    Constant,
    /// All agents in all steps of a run.
    Run,
    /// All agents in a step.
    Step,
    /// The agents of a world, in a phase.
    World,
    /// Nobody else: it is an agent's own.
    Agent,
}

/// Who shares a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sharing {
    /// Which agents.
    pub scope: Scope,
    /// Whether it may differ from lane to lane.
    pub by_lane: bool,
}

impl Sharing {
    const OWN: Sharing = Sharing {
        scope: Scope::Agent,
        by_lane: false,
    };

    /// Do all agents share it, in each step at least?
    pub fn is_uniform(self) -> bool {
        self.scope < Scope::World
    }

    /// What follows from both.
    fn and(self, other: Sharing) -> Sharing {
        Sharing {
            scope: self.scope.max(other.scope),
            by_lane: self.by_lane || other.by_lane,
        }
    }

    fn all(values: impl Iterator<Item = Sharing>) -> Sharing {
        values.fold(Sharing::default(), Sharing::and)
    }
}

impl From<Scope> for Sharing {
    fn from(scope: Scope) -> Sharing {
        Sharing {
            scope,
            by_lane: false,
        }
    }
}

/// Which variables may be uniform, beside names (`Let`) and what the launch gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracking {
    /// No others. What is uniform so follows from the launch and the step by names alone, and can be
    /// computed apart from the agents' statements.
    Names,
    /// Local variables and loop indices that are only assigned uniform values under uniform control flow. A
    /// call is uniform only of a function of names and a result.
    Variables,
}

/// Who shares the values of a program.
#[derive(Clone, Debug)]
pub struct Uniformity {
    tracking: Tracking,
    /// What a call of a function adds to its arguments.
    functions: FunctionMap<Sharing>,
    vars: VarMap<Sharing>,
    /// Of the nodes that were asked for.
    exprs: ExprMap<Option<Sharing>>,
    /// By local variable: how many conditions and loops are around its declaration.
    depths: VarMap<usize>,
    /// Who meets the conditions and loops around the statement at hand.
    control: Vec<Sharing>,
    changed: bool,
}

/// Who ends the iterations of a loop together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Jumps {
    /// Who reaches its `continue`s together.
    pub iterations: Sharing,
    /// Who reaches its `break`s together, which depends on the iterations.
    pub breaks: Sharing,
}

impl Uniformity {
    /// Analyses a program that `verify` accepts.
    pub fn new(program: &Program, tracking: Tracking) -> Uniformity {
        Uniformity::with(program, tracking, |_| false)
    }

    /// The same where lanes have parts of states, for which `is_part` is true.
    pub fn with(
        program: &Program,
        tracking: Tracking,
        is_part: impl Fn(VarId) -> bool,
    ) -> Uniformity {
        let start = |var| Sharing {
            by_lane: is_part(var),
            ..start(&program[var], tracking)
        };
        let mut known = Uniformity {
            tracking,
            functions: FunctionMap::default(),
            vars: program.var_ids().map(start).collect(),
            exprs: ExprMap::filled(None, program.exprs.len()),
            depths: VarMap::filled(0, program.vars.len()),
            control: Vec::new(),
            changed: true,
        };
        for function in &program.functions {
            let sharing = known.function(program, function);
            known.functions.push(sharing);
        }
        while std::mem::take(&mut known.changed) {
            for section in program.sections() {
                known.block(program, program.section(section));
            }
        }
        known
    }

    /// Who shares the value of a variable.
    pub fn of_var(&self, var: VarId) -> Sharing {
        self.vars.get(var).copied().unwrap_or(Self::UNKNOWN)
    }

    /// What a pass has created since may differ for each agent.
    const UNKNOWN: Sharing = Sharing {
        scope: Scope::Agent,
        by_lane: true,
    };

    /// Who shares the value of an expression that was in the program when it was analysed.
    pub fn of(&self, id: ExprId) -> Sharing {
        self.exprs[id].unwrap_or(Self::UNKNOWN)
    }

    /// Who shares the value of an expression, also of a new one. The answer stays, even if the expression
    /// changes.
    pub fn find(&mut self, program: &Program, id: ExprId) -> Sharing {
        if let Some(Some(known)) = self.exprs.get(id) {
            return *known;
        }
        let operands = program[id].operands();
        let operands = operands.iter().map(|&operand| self.find(program, operand));
        let operands = Sharing::all(operands);
        let sharing = self.node(program, id, operands);
        *self.exprs.grow(id, None) = Some(sharing);
        sharing
    }

    /// A name is given to a value.
    pub fn name(&mut self, program: &Program, var: VarId, value: ExprId) {
        let sharing = self.find(program, value);
        *self.vars.grow(var, Self::UNKNOWN) = sharing;
    }

    /// Who ends the iterations of a loop with this body together.
    pub fn jumps(&self, body: &Block) -> Jumps {
        let mut jumps = Jumps::default();
        if self.find_jumps(body, Sharing::default(), &mut jumps) {
            jumps.breaks = jumps.breaks.and(jumps.iterations);
        }
        jumps
    }

    /// Adds what a block under these conditions has to `jumps`; returns whether there is a `break`.
    fn find_jumps(&self, block: &Block, around: Sharing, jumps: &mut Jumps) -> bool {
        let mut any_break = false;
        for stmt in block {
            // Those of a loop within are its own.
            if let Stmt::Break = stmt {
                any_break = true;
                jumps.breaks = jumps.breaks.and(around);
            } else if let Stmt::Continue = stmt {
                jumps.iterations = jumps.iterations.and(around);
            } else if let Stmt::If { condition, .. } = stmt {
                let around = around.and(self.exprs[condition].unwrap_or_default());
                for arm in stmt.blocks() {
                    any_break |= self.find_jumps(arm, around, jumps);
                }
            }
        }
        any_break
    }

    /// What a call adds to its arguments.
    fn function(&self, program: &Program, function: &Function) -> Sharing {
        let mut sharing = Sharing::default();
        program.each_node_of(&function.body, &mut |id| {
            if let Expr::Launch(_) | Expr::Rows(_) | Expr::Call(..) = program[id] {
                sharing = self.node(program, id, sharing);
            }
        });
        let is_plain = |stmt: &Stmt| matches!(stmt, Stmt::Let { .. } | Stmt::Return(_));
        match self.tracking {
            Tracking::Variables if !function.body.iter().all(is_plain) => sharing.and(Sharing::OWN),
            Tracking::Variables | Tracking::Names => sharing,
        }
    }

    /// Of a node with such operands.
    fn node(&self, program: &Program, id: ExprId, operands: Sharing) -> Sharing {
        let own = match &program[id] {
            Expr::Launch(Launch::Agents | Launch::Steps | Launch::Members) | Expr::Rows(_) => {
                Scope::Run.into()
            }
            Expr::Launch(Launch::World)
            | Expr::RandomWord {
                owner: Owner::World,
                ..
            }
            | Expr::Other { .. } => Scope::World.into(),
            Expr::AcrossWorld { .. } => return Scope::World.into(),
            Expr::Launch(Launch::Step) => Scope::Step.into(),
            Expr::Launch(Launch::Agent | Launch::Member) | Expr::RandomWord { .. } => Sharing::OWN,
            Expr::Launch(Launch::Lane { .. }) => Sharing {
                scope: Scope::Run,
                by_lane: true,
            },
            Expr::Read(var) | Expr::Element { array: var, .. } => self.of_var(*var),
            Expr::Call(function, _) => self.functions[function],
            Expr::AcrossLanes { .. } => return operands.scope.into(),
            // What lanes ask for may differ where what they have does not.
            Expr::Shuffle { lane, .. } => {
                return Sharing {
                    by_lane: self.of(*lane).by_lane,
                    ..operands
                };
            }
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
            | Expr::Builtin(..) => Sharing::default(),
        };
        operands.and(own)
    }

    fn block(&mut self, program: &Program, block: &Block) {
        for stmt in block {
            self.statement(program, stmt);
        }
    }

    fn statement(&mut self, program: &Program, stmt: &Stmt) {
        let roots = stmt.roots();
        let sharing = Sharing::all(roots.iter().map(|&root| self.tree(program, root)));
        match stmt {
            Stmt::Let { var, .. } => self.extend(program, *var, sharing),
            Stmt::Var { var, .. } => {
                self.depths[var] = self.control.len();
                self.extend(program, *var, sharing);
            }
            Stmt::Assign { var, .. } => {
                let since = &self.control[self.depths[var].min(self.control.len())..];
                let since = Sharing::all(since.iter().copied());
                self.extend(program, *var, sharing.and(since));
            }
            Stmt::If { .. } => self.inside(program, stmt, sharing),
            Stmt::For { index, body, .. } => {
                self.extend(program, *index, sharing);
                let Jumps { iterations, breaks } = self.jumps(body);
                self.inside(program, stmt, sharing.and(iterations).and(breaks));
            }
            Stmt::AssignElement { .. }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Stop
            | Stmt::Return(_) => {}
        }
    }

    /// The blocks of a statement, and who runs them together.
    fn inside(&mut self, program: &Program, stmt: &Stmt, together: Sharing) {
        self.control.push(together);
        for inner in stmt.blocks() {
            stacker::maybe_grow(32 << 10, 1 << 20, || self.block(program, inner));
        }
        self.control.pop();
    }

    /// A variable also has a value that these share.
    fn extend(&mut self, program: &Program, var: VarId, sharing: Sharing) {
        let tracked = match self.tracking {
            Tracking::Variables => true,
            Tracking::Names => program[var].kind == VarKind::Let,
        };
        let extended = self.vars[var].and(sharing);
        if tracked && self.vars[var] != extended {
            self.vars[var] = extended;
            self.changed = true;
        }
    }

    /// Who shares the value of a tree, as far as its variables are known. By a list rather than by recursion,
    /// because a model may nest expressions deeper than the stack.
    fn tree(&mut self, program: &Program, root: ExprId) -> Sharing {
        let nodes: Vec<ExprId> = program.nodes(root).collect();
        for &id in nodes.iter().rev() {
            let operands = program[id].operands();
            let operands = operands.iter().filter_map(|operand| self.exprs[operand]);
            let sharing = self.node(program, id, Sharing::all(operands));
            // Conditions around jumps are seen before it is known that they make the loop divergent.
            self.changed |= self.exprs[id].replace(sharing) != Some(sharing);
        }
        self.exprs[root].unwrap_or_default()
    }
}

/// Who shares the value of a variable before any assignment is seen.
fn start(var: &Var, tracking: Tracking) -> Sharing {
    match var.kind {
        VarKind::Constant | VarKind::Let => Sharing::default(),
        VarKind::Param | VarKind::Data => Scope::Run.into(),
        VarKind::WorldInput | VarKind::WorldState | VarKind::WorldOutput | VarKind::WorldRecord => {
            Scope::World.into()
        }
        VarKind::Local | VarKind::Index
            if tracking == Tracking::Variables && var.len == Len::One =>
        {
            Sharing::default()
        }
        VarKind::Input
        | VarKind::State
        | VarKind::Output
        | VarKind::Record
        | VarKind::Argument
        | VarKind::Local
        | VarKind::Index => Sharing::OWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who shares the variable `name` of a step.
    fn scope(tracking: Tracking, body: &str, name: &str) -> Scope {
        let source =
            format!("param p = 3\nstate x = 1.0\nstep t {{\n{body}\n}}\noutput y = x + f32(p)");
        let options = crate::Options {
            optimise: false,
            ..crate::Options::default()
        };
        let artifact = crate::compile_with(&source, options).expect("a legal model");
        let known = Uniformity::new(&artifact.program, tracking);
        let mut named =
            (artifact.program.var_ids()).filter(|&var| artifact.program[var].name == name);
        let var = named.next().expect("a variable of that name");
        assert_eq!(named.next(), None, "{name} is not unique");
        known.of_var(var).scope
    }

    #[test]
    fn scopes_follow_values_and_control_flow() {
        let of = |body| scope(Tracking::Variables, body, "a");
        assert_eq!(of("var a = 1.0 x = a"), Scope::Constant);
        assert_eq!(of("var a = f32(p) x = a"), Scope::Run);
        assert_eq!(of("var a = 1.0 if p > 2 { a = 2.0 } x = a"), Scope::Run);
        assert_eq!(of("let a = t + p x = f32(a)"), Scope::Step);
        assert_eq!(of("var a = 1.0 if x > 2.0 { a = 2.0 } x = a"), Scope::Agent);
        assert_eq!(
            of("if x > 2.0 { var a = 1.0 a = 2.0 x = a }"),
            Scope::Constant
        );
        let ends = "var a = 0 for k in 0..9 { if x > f32(k) { break } a += 1 } x = f32(a)";
        assert_eq!(of(ends), Scope::Agent);
        let skips = "var a = 0 for k in 0..9 { if x > 1.0 { continue } a += 1 } x = f32(a)";
        assert_eq!(of(skips), Scope::Agent);
        let together = "var a = 0 for k in 0..9 { if t > 1 { break } a += 1 } x = f32(a)";
        assert_eq!(of(together), Scope::Step);
    }

    #[test]
    fn of_names_alone_variables_are_the_agents_own() {
        let of = |body| scope(Tracking::Names, body, "a");
        assert_eq!(of("var a = f32(p) x = a"), Scope::Agent);
        assert_eq!(of("let a = t + p x = f32(a)"), Scope::Step);
    }
}
