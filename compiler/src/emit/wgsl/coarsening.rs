//! Several agents per invocation, see [`crate::kernel::coarsening`]: statements are written once for each
//! agent of an invocation, under names of its own, except for those that all of them share.

use super::{Writer, lanes::opaque, literal, operator::Level};
use crate::{
    ir::{
        Block, Expr, ExprId, LaneOp, Stmt, Type, VarId, VarMap,
        uniformity::{Scope, Tracking, Uniformity},
    },
    kernel::{
        coarsening::ENABLED,
        lanes::neutral,
        usage::LanePlace,
        worlds::{combines, jumps_out},
    },
};
use std::collections::HashMap;

/// The agents of an invocation.
#[derive(Default)]
pub(super) struct Coarse {
    /// The names of the agents that are not current: of all but the first, unless one of these is.
    others: Vec<AgentNames>,
    /// Which agent is written for; none where it is for all of them.
    current: Option<usize>,
    /// Who shares a value.
    uniformity: Option<Uniformity>,
    /// In units: the factor of the first of two neighbours in a sum of both, by pair.
    weights: Vec<String>,
}

/// The names that an agent has of its own.
#[derive(Clone, Default)]
struct AgentNames {
    variables: VarMap<String>,
    inputs: HashMap<(VarId, LanePlace), String>,
    rows: HashMap<LanePlace, String>,
    own: [String; 9],
}

impl Writer<'_> {
    /// Agents of an invocation.
    pub(super) fn per_invocation(&self) -> u32 {
        match ENABLED {
            true => self.schedule.agents_per_invocation,
            false => 1,
        }
    }

    /// Does an invocation run several agents?
    pub(super) fn is_coarse(&self) -> bool {
        self.per_invocation() > 1
    }

    /// Names what each further agent of an invocation has of its own, once the first has its names.
    pub(super) fn name_further_agents(&mut self) {
        if !self.is_coarse() {
            return;
        }
        let program = self.program;
        self.coarse.uniformity = Some(Uniformity::new(program, Tracking::Variables));
        let is_agent = self.own.is_agent.clone();
        for number in 1..self.per_invocation() as usize {
            let names = AgentNames {
                variables: self.var_names.clone(),
                inputs: HashMap::new(),
                rows: HashMap::new(),
                own: self.own_names().map(|name| name.clone()),
            };
            self.coarse.others.push(names);
            self.swap(number);
            for &state in program.states.iter().chain(&program.world_states) {
                self.declare(state);
            }
            self.name_inputs();
            let mut wishes = self.own_names().map(|name| name.clone());
            for wish in &mut wishes {
                *wish = self.names.declare(wish);
            }
            for (name, declared) in self.own_names().into_iter().zip(wishes) {
                *name = declared;
            }
            self.own.place.clone_from(&self.own.slot);
            if self.manifest.world.is_some() {
                // All of a world's agents are agents of the run.
                self.own.is_agent.clone_from(&is_agent);
            }
            self.swap(number);
        }
    }

    /// What the kernel itself names for an agent.
    fn own_names(&mut self) -> [&mut String; 9] {
        let own = &mut self.own;
        [
            &mut own.slot,
            &mut own.place,
            &mut own.row,
            &mut own.is_agent,
            &mut own.agent,
            &mut own.stream,
            &mut own.key,
            &mut own.steps_run,
            own.world.own_member_mut(),
        ]
    }

    /// Exchanges the names of the first agent of an invocation and of another one.
    fn swap(&mut self, number: usize) {
        let mut other = std::mem::take(&mut self.coarse.others[number - 1]);
        std::mem::swap(&mut self.var_names, &mut other.variables);
        std::mem::swap(&mut self.input_names, &mut other.inputs);
        std::mem::swap(&mut self.row_names, &mut other.rows);
        for (name, other) in self.own_names().into_iter().zip(&mut other.own) {
            std::mem::swap(name, other);
        }
        self.coarse.others[number - 1] = other;
    }

    /// Writes something for each agent of an invocation.
    #[inline]
    pub(super) fn each_agent(&mut self, mut write: impl FnMut(&mut Self)) {
        if !self.is_for_all() {
            return write(self);
        }
        self.coarse.current = Some(0);
        write(self);
        for number in 1..=self.coarse.others.len() {
            self.coarse.current = Some(number);
            self.swap(number);
            write(self);
            self.swap(number);
        }
        self.coarse.current = None;
    }

    /// Which agent of its invocation is written for.
    pub(super) fn number_in_invocation(&self) -> usize {
        match ENABLED {
            true => self.coarse.current.unwrap_or(0),
            false => 0,
        }
    }

    /// Is what is written for all agents of an invocation?
    pub(super) fn is_for_all(&self) -> bool {
        ENABLED && !self.coarse.others.is_empty() && self.coarse.current.is_none()
    }

    /// Lets all agents of an invocation have the name that a variable was just given.
    pub(super) fn share_name(&mut self, var: VarId) {
        if self.is_for_all() {
            for other in &mut self.coarse.others {
                other.variables[var].clone_from(&self.var_names[var]);
            }
        }
    }

    /// Do all agents of an invocation share a value?
    fn is_shared(&self, id: ExprId) -> bool {
        let uniformity = self.coarse.uniformity.as_ref();
        uniformity.is_some_and(|known| known.of(id).scope < Scope::Agent)
    }

    /// Writes a statement for all agents of an invocation: once if they share what it computes, else for each
    /// of them. Is its end reachable?
    pub(super) fn stmt_for_all(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let { var, value } if self.is_shared(*value) => {
                let falls = self.stmt(stmt);
                self.share_name(*var);
                falls
            }
            // All agents of a world come to where their values are combined.
            Stmt::If { .. } | Stmt::For { .. }
                if stmt.blocks().any(|block| combines(self.program, block)) =>
            {
                self.stmt(stmt)
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } if self.is_shared(*condition) => {
                self.shared_if(*condition, accept, reject);
                true
            }
            Stmt::For {
                start, end, body, ..
            } if self.is_shared(*start) && self.is_shared(*end) && !jumps_out(body) => {
                self.stmt(stmt)
            }
            Stmt::Let { .. }
            | Stmt::Var { .. }
            | Stmt::Assign { .. }
            | Stmt::AssignElement { .. }
            | Stmt::If { .. }
            | Stmt::For { .. }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Stop
            | Stmt::Return(_) => {
                let mut falls = true;
                self.each_agent(|writer| falls = writer.stmt(stmt));
                falls
            }
        }
    }

    /// Writes an `if` that all agents of an invocation take in the same way.
    fn shared_if(&mut self, condition: ExprId, accept: &Block, reject: &Block) {
        self.cut(condition);
        self.begin();
        self.push("if (");
        self.expr(condition, Level::Lowest);
        self.end(") {");
        self.indent += 1;
        self.block(accept);
        if !reject.is_empty() {
            self.close("} else {");
            self.indent += 1;
            self.block(reject);
        }
        self.close("}");
    }

    /// The line that names the factor of the first of two neighbours in a sum of both, if the current agent
    /// is the second and such sums are written: one, or so little that it changes nothing, where the second
    /// is no agent of the unit and has the values of the first.
    pub(super) fn weight(&mut self) -> Option<String> {
        let is_second = !self.number_in_invocation().is_multiple_of(2);
        let mut combined = self.program.samples.iter().flat_map(|it| &it.combined);
        if !is_second || !combined.any(|&(var, op)| self.adds_floats(var, op)) {
            return None;
        }
        let weight = self.names.declare("weight");
        let line = format!("let {weight} = select(1e-30, 1.0, {});", self.own.is_agent);
        self.coarse.weights.push(weight);
        Some(line)
    }

    fn adds_floats(&self, var: VarId, op: LaneOp) -> bool {
        op == LaneOp::Sum && self.program[var].ty.is_float()
    }

    /// What the agents of an invocation have of a variable, combined as a tree, neighbours first. In a unit
    /// that has fewer agents, those that are none have what changes nothing.
    pub(super) fn combined_in_invocation(&mut self, var: VarId, op: LaneOp) -> String {
        let ty = self.program[var].ty;
        let mut parts = match self.adds_floats(var, op) {
            true => self.sums_of_pairs(var),
            false => self.values_of_agents(var, op),
        };
        let reorders = match op {
            LaneOp::Sum => ty.is_float() && !self.schedule.keeps_order,
            LaneOp::Product => ty.is_float(),
            LaneOp::Least | LaneOp::Most | LaneOp::Any | LaneOp::All => false,
        };
        while parts.len() > 1 {
            let (before, after) = match reorders && parts.len() > 2 {
                true => opaque(ty),
                false => Default::default(),
            };
            let pairs = parts.chunks(2);
            let combined = pairs.map(|pair| match pair {
                [a, b] => format!("{before}{}{after}", combined(op, a, b)),
                one => one.concat(),
            });
            parts = combined.collect();
        }
        parts.swap_remove(0)
    }

    /// The sums of neighbours, two by two. A driver neither contracts a sum with a product nor reorders sums
    /// where a factor stands between that it does not know.
    fn sums_of_pairs(&mut self, var: VarId) -> Vec<String> {
        let ty = self.program[var].ty;
        let wgsl = literal::type_name(ty);
        let mut agents = Vec::new();
        self.each_agent(|writer| {
            let name = writer.var_names[var].clone();
            agents.push((name, writer.own.is_agent.clone()));
        });
        let weights = &self.coarse.weights;
        let mut sums = Vec::new();
        for (number, pair) in agents.chunks(2).enumerate() {
            let [(a, is_agent), (b, _)] = pair else {
                unreachable!("an invocation runs an even number of agents");
            };
            let weight = weights.get(number).map_or("f32(run.guard - 1u)", |it| it);
            let sum = match ty {
                Type::F32 => format!("fma({a}, {weight}, {b})"),
                _ => format!("fma({a}, {wgsl}({weight}), {b})"),
            };
            sums.push(match self.manifest.world.is_none() && number > 0 {
                true => format!("select({wgsl}(-0.0), {sum}, {is_agent})"),
                false => sum,
            });
        }
        sums
    }

    /// What each agent has of a variable, so that a driver neither contracts nor reorders products.
    fn values_of_agents(&mut self, var: VarId, op: LaneOp) -> Vec<String> {
        let ty = self.program[var].ty;
        let adds = matches!(op, LaneOp::Sum | LaneOp::Product);
        let is_ragged = adds && self.manifest.world.is_none();
        let (before, after) = match adds && ty.is_float() {
            true => opaque(ty),
            false => Default::default(),
        };
        let nothing = neutral(op, ty);
        let mut values = Vec::new();
        self.each_agent(|writer| {
            let name = &writer.var_names[var];
            let mut value = format!("{before}{name}{after}");
            if is_ragged && writer.number_in_invocation() > 0 {
                let start = std::mem::take(&mut writer.out);
                writer.literal(&nothing, false);
                let nothing = std::mem::replace(&mut writer.out, start);
                value = format!("select({nothing}, {value}, {})", writer.own.is_agent);
            }
            values.push(value);
        });
        values
    }

    /// Writes the head of `main` where an invocation runs several agents that know of no world: `first` is
    /// the place of its first one.
    pub(super) fn coarse_places(&mut self, first: &str) {
        let agents = format!("{}.agents", self.own.launch);
        let name = self.names.declare("first");
        self.line(&format!(
            "let {name} = ({first}) * {}u;",
            self.per_invocation()
        ));
        self.open(&format!("if ({name} >= {agents}) {{"));
        self.line("return;");
        self.close("}");
        self.each_agent(|writer| {
            let at = match writer.number_in_invocation() {
                0 => name.clone(),
                number => format!("{name} + {number}u"),
            };
            let own = &writer.own;
            let lines = [
                format!("let {} = {at} < {agents};", own.is_agent),
                format!("let {} = min({at}, {agents} - 1u);", own.place),
            ];
            lines.iter().for_each(|line| writer.line(line));
        });
    }

    /// The names of the values that a fold over the world combines: see
    /// [`named_folds`](crate::kernel::coarsening::named_folds).
    pub(super) fn folded(&mut self, op: LaneOp, value: ExprId) -> Option<String> {
        let Expr::Read(var) = self.program[value] else {
            return None;
        };
        self.is_for_all()
            .then(|| self.combined_in_invocation(var, op))
    }
}

/// Two values combined: truth values as `bool` or as words.
pub(super) fn combined(op: LaneOp, a: &str, b: &str) -> String {
    match op {
        LaneOp::Sum => format!("({a} + {b})"),
        LaneOp::Product => format!("({a} * {b})"),
        LaneOp::Least => format!("min({a}, {b})"),
        LaneOp::Most => format!("max({a}, {b})"),
        LaneOp::Any => format!("({a} | {b})"),
        LaneOp::All => format!("({a} & {b})"),
    }
}
