//! Forward mode: tangents beside the values of a program.
//!
//! A statement whose value depends on a direction is taken apart: each operation that does so becomes a
//! `let`, followed by a `let` for its tangent in each direction. So every operation is written once, whatever
//! the depth of the expression.

mod activity;
mod operation;
mod path;

use super::{Direction, Refused, refused, rules::Rules};
use crate::{
    ir::{Block, Expr, ExprId, FunctionId, Len, Program, Stmt, Type, Value, VarId, VarKind},
    span::Span,
};
use std::collections::HashMap;

/// A set of directions, a bit each.
type Set = u64;

/// A value that may be written any number of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Atom {
    Literal(Value),
    Var(VarId),
}

/// The program with tangents, and per output of `wanted` its tangents in all directions.
///
/// # Errors
/// As [`super::forward`].
pub(super) fn differentiate(
    source: &Program,
    directions: &[Direction],
    wanted: &[VarId],
) -> Result<(Program, Vec<Vec<VarId>>), Refused> {
    let mut forward = Forward::analysed(source, directions, wanted)?;
    forward.program.init = forward.transformed(&source.init);
    forward.program.prologue = forward.transformed(&source.prologue);
    for (k, phase) in source.phases.iter().enumerate() {
        forward.program.phases[k].body = forward.transformed(&phase.body);
    }
    for (k, phase) in source.ends.iter().enumerate() {
        forward.program.ends[k].body = forward.transformed(&phase.body);
    }
    forward.program.finish = forward.transformed(&source.finish);
    let tangents = |output: &VarId| {
        let all = 0..directions.len();
        all.map(|k| forward.tangent_output(*output, k)).collect()
    };
    let tangents = wanted.iter().map(tangents).collect();
    match forward.refused {
        Some(refused) => Err(refused),
        None => Ok((forward.program, tangents)),
    }
}

struct Forward<'a> {
    program: Program,
    directions: &'a [Direction],
    /// The outputs that have tangents.
    wanted: &'a [VarId],
    /// The directions on which a variable depends.
    varied: HashMap<VarId, Set>,
    /// The tangent of a variable in a direction.
    twins: HashMap<(VarId, usize), VarId>,
    rules: Rules,
    /// The tangents of functions: by function, direction and the arguments that depend on it.
    functions: HashMap<(FunctionId, usize, Vec<bool>), FunctionId>,
    block: Block,
    /// Where the current statement comes from.
    here: Span,
    /// The directions in which tangents are made here: all, or that of a function's tangent.
    active: Set,
    /// Within the tangent of a function: the direction.
    returns: Option<usize>,
    refused: Option<Refused>,
}

/// Checks that each of the wanted outputs has a derivative in each direction.
///
/// # Errors
/// As [`super::forward`].
pub(super) fn check(
    source: &Program,
    directions: &[Direction],
    wanted: &[VarId],
) -> Result<(), Refused> {
    let most = Set::BITS as usize;
    let mut parts = directions.chunks(most);
    parts.try_for_each(|part| Forward::analysed(source, part, wanted).map(drop))
}

impl<'a> Forward<'a> {
    /// A copy of the program, with what depends on which direction.
    fn analysed(
        source: &Program,
        directions: &'a [Direction],
        wanted: &'a [VarId],
    ) -> Result<Forward<'a>, Refused> {
        let mut forward = Forward {
            program: source.clone(),
            directions,
            wanted,
            varied: HashMap::new(),
            twins: HashMap::new(),
            rules: Rules::default(),
            functions: HashMap::new(),
            block: Block::new(),
            active: Set::MAX,
            here: Span::default(),
            returns: None,
            refused: None,
        };
        for (k, direction) in directions.iter().enumerate() {
            *forward.varied.entry(direction.var).or_default() |= 1 << k;
        }
        forward.check_defaults()?;
        let mut blocks = vec![source.init.clone(), source.prologue.clone()];
        let phases = source.phases.iter().chain(&source.ends);
        blocks.extend(phases.map(|phase| phase.body.clone()));
        blocks.push(source.finish.clone());
        while blocks.iter().filter(|block| forward.spread(block)).count() > 0 {}
        forward.check_draws(&blocks)?;
        forward.check_wanted()?;
        Ok(forward)
    }
}

impl Forward<'_> {
    fn refuse(&mut self, message: impl Into<String>, span: Span) {
        let refused = refused(message);
        self.refused.get_or_insert(Refused {
            span: Some(span),
            ..refused
        });
    }

    /// A derivative cannot pass through what the host computes before the launch.
    fn check_defaults(&self) -> Result<(), Refused> {
        for default in &self.program.input_defaults {
            let mut found = None;
            self.program.each_node_of(&default.body, &mut |id| {
                let var = self.program[id].variable();
                found = found.or(var.filter(|var| self.varied.contains_key(var)));
            });
            if let Some(var) = found {
                return Err(refused(format!(
                    "input `{}` is computed from `{}` before the run, where no derivative is taken; give the \
                     input, or compute it into a state",
                    default.input, self.program[var].name
                )));
            }
        }
        Ok(())
    }

    /// The derivative through a draw that is no smooth function of its arguments does not exist. Draws that
    /// no wanted output depends on do not count.
    fn check_draws(&self, blocks: &[Block]) -> Result<(), Refused> {
        let is_varied = |var: &VarId| self.varied.contains_key(var);
        if !self
            .program
            .draws
            .iter()
            .any(|site| site.args.iter().any(is_varied))
        {
            return Ok(());
        }
        let leading = self.leading(blocks);
        for site in &self.program.draws {
            let varied = (site.args.iter()).find(|var| is_varied(var) && leading.contains(var));
            if varied.is_some() {
                return Err(Refused {
                    message: format!(
                        "`{}` is drawn with an argument that depends on what the derivative is taken by, and \
                         has no derivative along one path",
                        site.draw.name()
                    ),
                    span: Some(site.span),
                });
            }
        }
        Ok(())
    }

    /// A derivative that is zero by construction is a mistake of the question.
    fn check_wanted(&self) -> Result<(), Refused> {
        for output in self.wanted {
            let set = self.varied.get(output).copied().unwrap_or(0);
            for (k, direction) in self.directions.iter().enumerate() {
                let same = |other: &&Direction| other.var == direction.var;
                let all = self.directions.iter().enumerate();
                let reached =
                    (all.filter(|(_, other)| same(other))).any(|(k, _)| set >> k & 1 == 1);
                if !reached {
                    return Err(refused(format!(
                        "output `{}` cannot depend on `{}`: its derivative is zero",
                        self.program[*output].name, self.directions[k].name
                    )));
                }
            }
        }
        Ok(())
    }

    fn transformed(&mut self, block: &Block) -> Block {
        let outer = std::mem::take(&mut self.block);
        for stmt in block {
            self.stmt(stmt);
        }
        std::mem::replace(&mut self.block, outer)
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                let accept = self.transformed(accept);
                let reject = self.transformed(reject);
                let condition = *condition;
                self.block.push(Stmt::If {
                    condition,
                    accept,
                    reject,
                });
            }
            Stmt::For {
                index,
                start,
                end,
                body,
            } => {
                let body = self.transformed(body);
                let (index, start, end) = (*index, *start, *end);
                self.block.push(Stmt::For {
                    index,
                    start,
                    end,
                    body,
                });
            }
            Stmt::Return(value) if let Some(k) = self.returns => {
                self.here = self.program.span(*value);
                let ty = self.program.type_of(*value);
                let value = self.value(*value);
                let tangent = self.tangent_or_zero(value, k, ty);
                self.block.push(Stmt::Return(tangent));
            }
            Stmt::Let { var, .. }
            | Stmt::Var { var, .. }
            | Stmt::Assign { var, .. }
            | Stmt::AssignElement { var, .. }
                if self.has_tangents(*var) =>
            {
                self.assignment(stmt, *var);
            }
            Stmt::Let { .. }
            | Stmt::Var { .. }
            | Stmt::Assign { .. }
            | Stmt::AssignElement { .. }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Stop
            | Stmt::Return(_) => self.block.push(stmt.clone()),
        }
    }

    /// Whether assignments to it are assignments to tangents, too.
    fn has_tangents(&self, var: VarId) -> bool {
        let kind = self.program[var].kind;
        let others = [VarKind::WorldOutput, VarKind::Record, VarKind::WorldRecord];
        let kept = match kind == VarKind::Output {
            true => self.wanted.contains(&var),
            false => !others.contains(&kind),
        };
        kept && self.of_var(var) != 0
    }

    /// A statement that gives a variable its value, and those that give its tangents theirs.
    fn assignment(&mut self, stmt: &Stmt, var: VarId) {
        let Some(&root) = stmt.roots().last() else {
            // An array of zeros.
            self.block.push(stmt.clone());
            for k in self.directions_of(var) {
                let var = self.twin(var, k);
                self.block.push(Stmt::Var { var, value: None });
            }
            return;
        };
        self.here = self.program.span(root);
        let ty = self.program[var].ty;
        let value = self.value(root);
        let index = if let Stmt::AssignElement { index, .. } = stmt {
            Some(self.value(*index))
        } else {
            None
        };
        let tangents: Vec<(VarId, ExprId)> = (self.directions_of(var).into_iter())
            .map(|k| (self.twin(var, k), self.tangent_or_zero(value, k, ty)))
            .collect();
        let value = self.write(value);
        for (target, value) in std::iter::once((var, value)).chain(tangents) {
            let mut copy = stmt.clone();
            if let Some(var) = copy.target_mut() {
                *var = target;
            }
            let mut roots = index
                .map(|index| self.write(index))
                .into_iter()
                .chain([value]);
            copy.map_roots(|_| roots.next().expect("a root for each"));
            self.block.push(copy);
        }
    }

    fn directions_of(&self, var: VarId) -> Vec<usize> {
        self.each(self.of_var(var))
    }

    fn each(&self, set: Set) -> Vec<usize> {
        let (set, all) = (set & self.active, 0..self.directions.len());
        all.filter(|k| set >> k & 1 == 1).collect()
    }

    /// The tangent of a variable that is assigned.
    fn twin(&mut self, var: VarId, k: usize) -> VarId {
        if let Some(twin) = self.twins.get(&(var, k)) {
            return *twin;
        }
        let program = &mut self.program;
        let mut copy = program[var].clone();
        copy.name = format!("{}_d{k}", copy.name);
        copy.doc.clear();
        let kind = copy.kind;
        let row = row_of(program, kind).map_or(Vec::new(), |row| row.clone());
        copy.word = program.row_words(&row);
        let twin = program.add_var(copy);
        if let Some(row) = row_of(program, kind) {
            row.push(twin);
        }
        self.twins.insert((var, k), twin);
        twin
    }

    /// The derivative of an output, also where it does not depend on the direction.
    fn tangent_output(&mut self, output: VarId, k: usize) -> VarId {
        if self.of_var(output) >> k & 1 == 1 {
            return self.twin(output, k);
        }
        let var = self.twin(output, k);
        // Outputs that nothing assigns are zero.
        let (ty, len) = (self.program[output].ty, self.program[output].len);
        if len == Len::One {
            let value = self.zero(ty);
            self.program.finish.push(Stmt::Assign { var, value });
        } else if let Len::Fixed(count) = len {
            for element in 0..count {
                let index = self.add(Expr::Literal(Value::I32(element as i32)));
                let value = self.zero(ty);
                self.program
                    .finish
                    .push(Stmt::AssignElement { var, index, value });
            }
        }
        var
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        self.program.add(expr, self.here)
    }

    fn write(&mut self, atom: Atom) -> ExprId {
        self.add(match atom {
            Atom::Literal(value) => Expr::Literal(value),
            Atom::Var(var) => Expr::Read(var),
        })
    }

    fn zero(&mut self, ty: Type) -> ExprId {
        self.add(Expr::Literal(filled(ty, |_| 0.0)))
    }

    fn bind(&mut self, name: &str, value: ExprId) -> VarId {
        let ty = self.program.type_of(value);
        let var = self.program.add_name(name, ty);
        self.block.push(Stmt::Let { var, value });
        var
    }

    /// Names a value and, where it has any, its tangents.
    fn value(&mut self, id: ExprId) -> Atom {
        let expr = self.program[id].clone();
        if let Expr::Literal(value) = expr {
            return Atom::Literal(value);
        }
        if let Expr::Read(var) = expr {
            return Atom::Var(var);
        }
        let set = self.set(id);
        if set == 0 {
            return Atom::Var(self.bind("value", id));
        }
        let operands = expr.operands();
        let atoms: Vec<Atom> = (operands.iter())
            .map(|operand| stacker::maybe_grow(32 << 10, 1 << 20, || self.value(*operand)))
            .collect();
        self.here = self.program.span(id);
        let mut node = expr.clone();
        let mut next = atoms.iter();
        node.map_operands(|_| self.write(*next.next().expect("an atom for each operand")));
        let node = self.add(node);
        let result = self.bind("value", node);
        for k in self.each(set) {
            if let Some(tangent) = self.tangent(&expr, &atoms, result, k) {
                let twin = self.bind("tangent", tangent);
                self.twins.insert((result, k), twin);
                *self.varied.entry(result).or_default() |= 1 << k;
            }
        }
        Atom::Var(result)
    }

    /// The tangent of an atom; none if it is zero.
    fn of(&mut self, atom: Atom, k: usize) -> Option<ExprId> {
        let Atom::Var(var) = atom else { return None };
        if self.of_var(var) >> k & 1 == 0 {
            return None;
        }
        if self.directions[k].var == var {
            let seed = self.seed(k);
            return Some(self.add(Expr::Literal(seed)));
        }
        let twin = self.twin(var, k);
        Some(self.add(Expr::Read(twin)))
    }

    fn tangent_or_zero(&mut self, atom: Atom, k: usize, ty: Type) -> ExprId {
        match self.of(atom, k) {
            Some(tangent) => tangent,
            None => self.zero(ty),
        }
    }

    /// 1 for the float that the direction is.
    fn seed(&self, k: usize) -> Value {
        let Direction { var, component, .. } = self.directions[k];
        let one = |at| if at == component { 1.0 } else { 0.0 };
        filled(self.program[var].ty, one)
    }
}

/// The variables that a tangent's row of words holds.
fn row_of(program: &mut Program, kind: VarKind) -> Option<&mut Vec<VarId>> {
    let rows = [
        (VarKind::State, &mut program.states),
        (VarKind::WorldState, &mut program.world_states),
        (VarKind::Output, &mut program.outputs),
    ];
    let mut rows = rows.into_iter();
    rows.find(|(of, _)| *of == kind).map(|(_, row)| row)
}

/// A float or a vector with these components.
fn filled(ty: Type, component: impl Fn(usize) -> f32) -> Value {
    match ty {
        Type::Vec2 => Value::Vec2(std::array::from_fn(component)),
        Type::Vec3 => Value::Vec3(std::array::from_fn(component)),
        Type::Vec4 => Value::Vec4(std::array::from_fn(component)),
        Type::F32 | Type::I32 | Type::U32 | Type::Bool => Value::F32(component(0)),
    }
}
