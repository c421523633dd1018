//! The verifier: checks the invariants of the IR, which every stage before must keep and every stage after
//! relies on. A complaint is a bug of the compiler, never of a model.

mod types;

use super::{
    Block, ExprId, ExprMap, LaneOp, Len, Owner, Program, Sample, Section, Stmt, Type, Var, VarId,
    VarKind, VarMap,
};

struct Verifier<'a> {
    program: &'a Program,
    section: Section,
    /// By expression: has a user been seen?
    used: ExprMap<bool>,
    /// By expression, once seen.
    types: ExprMap<Option<Type>>,
    /// By variable: has its `Let` or `Var` been seen?
    declared: VarMap<bool>,
    /// By variable: may it be named here?
    in_scope: VarMap<bool>,
    /// By variable: is it assigned in `init`; is it in a phase; is it in `finish`?
    assigned: VarMap<[bool; 3]>,
    /// `For`s around the current statement.
    loops: u32,
}

/// Checks every invariant that the head of `ir` lists.
///
/// # Errors
/// The first invariant that does not hold, and where.
pub fn verify(program: &Program) -> Result<(), String> {
    lists(program)?;
    let vars = program.vars.len();
    let mut verifier = Verifier {
        program,
        section: Section::Init,
        used: ExprMap::filled(false, program.exprs.len()),
        types: ExprMap::filled(None, program.exprs.len()),
        declared: VarMap::filled(false, vars),
        in_scope: VarMap::filled(false, vars),
        assigned: VarMap::filled([false; 3], vars),
        loops: 0,
    };
    for section in program.sections() {
        verifier.section = section;
        match section {
            Section::Function(number) => verifier.function(&program.functions[number])?,
            Section::Prologue => verifier.prologue()?,
            Section::InputDefault(_)
            | Section::Init
            | Section::Phase(_)
            | Section::End(_)
            | Section::Sample(_)
            | Section::Finish => {
                verifier.block(program.section(section))?;
            }
        }
    }
    verifier.assignments()
}

/// In debug builds, checks what `stage` made.
///
/// # Panics
/// If an invariant does not hold: a bug of that stage.
pub(crate) fn debug_verify(program: &Program, stage: &str) {
    if cfg!(debug_assertions)
        && let Err(broken) = verify(program)
    {
        panic!("`{stage}` broke the IR: {broken}");
    }
}

impl Verifier<'_> {
    /// A complaint about the current section.
    fn complain<T>(&self, what: &str) -> Result<T, String> {
        Err(format!(
            "in {}: {what}",
            self.program.section_name(self.section)
        ))
    }

    fn name(&self, var: VarId) -> String {
        match self.program.vars.get(var.0 as usize) {
            Some(known) => format!("`{}` (variable {})", known.name, var.0),
            None => format!("variable {}, which does not exist", var.0),
        }
    }

    fn function(&mut self, function: &super::Function) -> Result<(), String> {
        for &param in &function.params {
            self.exists(param)?;
            let var = &self.program[param];
            if var.kind != VarKind::Argument || var.len != Len::One {
                return self.complain(&format!("{} is no parameter", self.name(param)));
            }
            self.declare(param)?;
        }
        self.block(&function.body)?;
        for &param in &function.params {
            self.in_scope[param] = false;
        }
        if returns(&function.body) {
            Ok(())
        } else {
            self.complain("a path ends without a return")
        }
    }

    /// Only `let`s and arrays, whose names reach to the end of the program.
    fn prologue(&mut self) -> Result<(), String> {
        for stmt in &self.program.prologue {
            let is_array = |var: VarId| self.program[var].len != Len::One;
            let fine = matches!(stmt, Stmt::Let { .. })
                || matches!(stmt, Stmt::Var { var, .. } if is_array(*var));
            if !fine {
                return self.complain("a statement that is no `let` and no array");
            }
            self.statement(stmt)?;
        }
        Ok(())
    }

    /// `init` gives every state a value and `finish` every output; the prologue reads no state that `step`
    /// changes.
    fn assignments(&self) -> Result<(), String> {
        for &state in self.program.states.iter().chain(&self.program.world_states) {
            let [born, _, _] = self.assigned[state];
            if !born {
                return Err(format!("init leaves {} without a value", self.name(state)));
            }
        }
        for &output in (self.program.outputs.iter()).chain(&self.program.world_outputs) {
            let [_, _, ended] = self.assigned[output];
            if !ended {
                return Err(format!(
                    "finish leaves {} without a value",
                    self.name(output)
                ));
            }
        }
        for sample in &self.program.samples {
            for &record in sample.records.iter().chain(&sample.world_records) {
                if self.assigned[record] == [false; 3] {
                    let (name, every) = (self.name(record), sample.every);
                    return Err(format!("every {every} leaves {name} without a value"));
                }
            }
        }
        for stmt in &self.program.prologue {
            if let Stmt::Let { value, .. } = stmt
                && let Some(state) = self.changing_state(*value)
            {
                return Err(format!(
                    "the prologue reads {}, which step changes",
                    self.name(state)
                ));
            }
        }
        Ok(())
    }

    /// A state in the expression that `step` assigns.
    fn changing_state(&self, root: ExprId) -> Option<VarId> {
        let mut named = self
            .program
            .nodes(root)
            .filter_map(|id| self.program[id].variable());
        named.find(|&var| self.assigned[var][1])
    }

    fn block(&mut self, block: &Block) -> Result<(), String> {
        for stmt in block {
            self.statement(stmt)?;
        }
        // The prologue's block is not looked at through here: its names stay.
        for stmt in block {
            if let Stmt::Let { var, .. } | Stmt::Var { var, .. } = stmt {
                self.in_scope[var] = false;
            }
        }
        Ok(())
    }

    /// A block within a block: a model may nest them deeper than the stack.
    fn nested(&mut self, block: &Block) -> Result<(), String> {
        stacker::maybe_grow(32 * 1024, 1024 * 1024, || self.block(block))
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<(), String> {
        match stmt {
            Stmt::Let { var, value } => {
                self.exists(*var)?;
                if self.program[*var].kind != VarKind::Let {
                    return self.complain(&format!("{} is no let", self.name(*var)));
                }
                self.expect(*value, self.program[*var].ty)?;
                self.declare(*var)
            }
            Stmt::Var { var, value } => self.local(*var, *value),
            Stmt::Assign { var, value } => {
                self.assignable(*var)?;
                if self.program[*var].len != Len::One {
                    return self.complain(&format!("{} is an array", self.name(*var)));
                }
                self.expect(*value, self.program[*var].ty)
            }
            Stmt::AssignElement { var, index, value } => {
                self.assignable(*var)?;
                if self.program[*var].len == Len::One {
                    return self.complain(&format!("{} is no array", self.name(*var)));
                }
                self.expect(*index, Type::I32)?;
                self.expect(*value, self.program[*var].ty)
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                self.expect(*condition, Type::Bool)?;
                self.nested(accept)?;
                self.nested(reject)
            }
            Stmt::For {
                index,
                start,
                end,
                body,
            } => self.for_loop(*index, *start, *end, body),
            Stmt::Break | Stmt::Continue if self.loops == 0 => {
                self.complain("break or continue outside a for")
            }
            Stmt::Break | Stmt::Continue => Ok(()),
            Stmt::Stop
                if self.section.is_phase() && self.program.owner(self.section) == Owner::Agent =>
            {
                Ok(())
            }
            Stmt::Stop => self.complain("stop outside step"),
            Stmt::Return(value) => {
                let Section::Function(number) = self.section else {
                    return self.complain("return outside a function");
                };
                self.expect(*value, self.program.functions[number].result)
            }
        }
    }

    fn local(&mut self, var: VarId, value: Option<ExprId>) -> Result<(), String> {
        self.exists(var)?;
        let known = &self.program[var];
        if known.kind != VarKind::Local {
            return self.complain(&format!("{} is no local variable", self.name(var)));
        }
        if let Some(value) = value {
            if known.len != Len::One {
                return self.complain(&format!("the array {} has a first value", self.name(var)));
            }
            self.expect(value, known.ty)?;
        }
        self.declare(var)
    }

    fn for_loop(
        &mut self,
        index: VarId,
        start: ExprId,
        end: ExprId,
        body: &Block,
    ) -> Result<(), String> {
        self.exists(index)?;
        let var = &self.program[index];
        if var.kind != VarKind::Index || var.ty != Type::I32 || var.len != Len::One {
            return self.complain(&format!("{} is no index", self.name(index)));
        }
        self.expect(start, Type::I32)?;
        self.expect(end, Type::I32)?;
        self.declare(index)?;
        self.loops += 1;
        self.nested(body)?;
        self.loops -= 1;
        self.in_scope[index] = false;
        Ok(())
    }

    fn exists(&self, var: VarId) -> Result<(), String> {
        if (var.0 as usize) < self.program.vars.len() {
            Ok(())
        } else {
            self.complain(&self.name(var))
        }
    }

    /// Brings a name into scope, for the first and only time.
    fn declare(&mut self, var: VarId) -> Result<(), String> {
        if std::mem::replace(&mut self.declared[var], true) {
            return self.complain(&format!("{} is declared twice", self.name(var)));
        }
        self.in_scope[var] = true;
        Ok(())
    }

    /// May this section assign the variable? Remembers that it does.
    fn assignable(&mut self, var: VarId) -> Result<(), String> {
        self.exists(var)?;
        let fine = match self.program[var].kind {
            VarKind::Local => self.in_scope[var],
            // Whoever finds a fault keeps it.
            VarKind::State if self.program.checks.are_for(var) => matches!(
                self.section,
                Section::Init
                    | Section::Phase(_)
                    | Section::End(_)
                    | Section::Sample(_)
                    | Section::Finish
            ),
            VarKind::State => {
                self.program.owner(self.section) == Owner::Agent
                    && matches!(
                        self.section,
                        Section::Init | Section::Phase(_) | Section::End(_) | Section::Finish
                    )
            }
            VarKind::WorldState => {
                let of_world = self.program.owner(self.section) == Owner::World;
                self.section == Section::Init
                    || of_world && !matches!(self.section, Section::Sample(_))
            }
            VarKind::Record => self.sampled().is_some_and(|it| it.records.contains(&var)),
            VarKind::WorldRecord => {
                (self.sampled()).is_some_and(|it| it.world_records.contains(&var))
            }
            VarKind::Output => self.section == Section::Finish,
            VarKind::WorldOutput => {
                matches!(self.section, Section::End(_))
                    && self.program.owner(self.section) == Owner::World
            }
            VarKind::Input | VarKind::WorldInput => self.own_input(var),
            VarKind::Constant
            | VarKind::Param
            | VarKind::Data
            | VarKind::Let
            | VarKind::Index
            | VarKind::Argument => false,
        };
        if !fine {
            return self.complain(&format!("{} may not be assigned", self.name(var)));
        }
        let marks = &mut self.assigned[var];
        match self.section {
            Section::Init => marks[0] = true,
            Section::Phase(_) => marks[1] = true,
            Section::End(_) | Section::Finish | Section::Sample(_) => marks[2] = true,
            Section::Prologue | Section::Function(_) | Section::InputDefault(_) => {}
        }
        Ok(())
    }

    /// The sample that this section is.
    fn sampled(&self) -> Option<&Sample> {
        match self.section {
            Section::Sample(number) => self.program.samples.get(number),
            Section::Function(_)
            | Section::InputDefault(_)
            | Section::Init
            | Section::Prologue
            | Section::Phase(_)
            | Section::End(_)
            | Section::Finish => None,
        }
    }

    /// Is this the default of that input?
    fn own_input(&self, var: VarId) -> bool {
        let Section::InputDefault(number) = self.section else {
            return false;
        };
        self.program.input_defaults[number].is_of(&self.program[var].name)
    }
}

/// Does every path through the block end in a `Return`?
fn returns(block: &Block) -> bool {
    block.iter().any(|stmt| {
        let both = |accept, reject| {
            stacker::maybe_grow(32 * 1024, 1024 * 1024, || {
                returns(accept) && returns(reject)
            })
        };
        matches!(stmt, Stmt::Return(_))
            || matches!(stmt, Stmt::If { accept, reject, .. } if both(accept, reject))
    })
}

/// Every variable of a kind stands in its kind's list, once, with a length that the kind may have.
fn lists(program: &Program) -> Result<(), String> {
    if program.spans.len() != program.exprs.len() {
        return Err("expressions and spans differ in number".to_owned());
    }
    for var in &program.vars {
        length(var)?;
    }
    let constants: Vec<VarId> = program.constants.iter().map(|(var, _)| *var).collect();
    list(program, &constants, VarKind::Constant)?;
    list(program, &program.params, VarKind::Param)?;
    list(program, &program.data, VarKind::Data)?;
    list(program, &program.inputs, VarKind::Input)?;
    list(program, &program.states, VarKind::State)?;
    list(program, &program.outputs, VarKind::Output)?;
    list(program, &program.world_inputs, VarKind::WorldInput)?;
    list(program, &program.world_states, VarKind::WorldState)?;
    list(program, &program.world_outputs, VarKind::WorldOutput)?;
    let all = |of: fn(&Sample) -> &Vec<VarId>| -> Vec<VarId> {
        program.samples.iter().flat_map(of).copied().collect()
    };
    list(program, &all(|sample| &sample.records), VarKind::Record)?;
    list(
        program,
        &all(|sample| &sample.world_records),
        VarKind::WorldRecord,
    )?;
    for sample in &program.samples {
        let known = |(var, _): &(VarId, LaneOp)| sample.world_records.contains(var);
        if !sample.combined.iter().all(known) {
            return Err("a sample combines what is not of the world".to_owned());
        }
    }
    if let Some(sample) = program.samples.iter().find(|sample| sample.every == 0) {
        return Err(format!(
            "a sample of {} values every 0 steps",
            sample.records.len()
        ));
    }
    for (var, elements) in &program.constants {
        let var = &program[*var];
        let count = elements.len();
        if var.len != Len::Fixed(count as u32) || elements.iter().any(|e| e.ty() != var.ty) {
            return Err(format!("the elements of `{}` do not fit it", var.name));
        }
    }
    let world = [
        &program.world_inputs,
        &program.world_states,
        &program.world_outputs,
    ];
    let agents = [&program.inputs, &program.states, &program.outputs];
    let samples =
        (program.samples.iter()).flat_map(|sample| [&sample.records, &sample.world_records]);
    for vars in agents.into_iter().chain(world).chain(samples) {
        rows(program, vars)?;
    }
    Ok(())
}

fn length(var: &Var) -> Result<(), String> {
    let fine = match (var.kind, var.len) {
        (VarKind::Let | VarKind::Index | VarKind::Argument, len) => len == Len::One,
        (VarKind::Constant, Len::Fixed(count)) => count > 0,
        (VarKind::Constant, Len::One | Len::Open { .. }) => false,
        (VarKind::Data, Len::Fixed(count)) => count > 0,
        (VarKind::Data, Len::Open { stride }) => stride > 0,
        // A table of one value has no length, which the language has no way to say but lists may.
        (VarKind::Data, Len::One) => true,
        (
            VarKind::Param
            | VarKind::Input
            | VarKind::State
            | VarKind::Output
            | VarKind::WorldInput
            | VarKind::WorldState
            | VarKind::WorldOutput
            | VarKind::Record
            | VarKind::WorldRecord
            | VarKind::Local,
            len,
        ) => match len {
            Len::One => true,
            Len::Fixed(count) => count > 0,
            Len::Open { .. } => false,
        },
    };
    if fine {
        Ok(())
    } else {
        Err(format!(
            "`{}`, a {:?}, may not have length {:?}",
            var.name, var.kind, var.len
        ))
    }
}

/// Exactly the variables of that kind, each once; a constant that nobody reads any more may be missing.
fn list(program: &Program, listed: &[VarId], kind: VarKind) -> Result<(), String> {
    let mut seen = vec![false; program.vars.len()];
    for &var in listed {
        let Some(mark) = seen.get_mut(var.0 as usize) else {
            return Err(format!("the list of {kind:?}s names variable {}", var.0));
        };
        if std::mem::replace(mark, true) || program[var].kind != kind {
            return Err(format!(
                "`{}` stands twice or wrongly in the list of {kind:?}s",
                program[var].name
            ));
        }
    }
    if kind == VarKind::Constant {
        return Ok(());
    }
    match (program.vars.iter().zip(&seen)).find(|(var, seen)| var.kind == kind && !**seen) {
        Some((var, _)) => Err(format!(
            "`{}` is missing from the list of {kind:?}s",
            var.name
        )),
        None => Ok(()),
    }
}

/// The words of a kind's variables do not overlap.
fn rows(program: &Program, vars: &[VarId]) -> Result<(), String> {
    let words = |ty: Type, len: Len| {
        let count = match len {
            Len::One => 1,
            Len::Fixed(count) => u64::from(count),
            Len::Open { stride } => u64::from(stride),
        };
        count * u64::from(program.words(ty))
    };
    let mut ranges: Vec<(u64, u64, &str)> = vars
        .iter()
        .map(|&id| {
            let var = &program[id];
            let first = u64::from(var.word);
            (first, first + words(var.ty, var.len), var.name.as_str())
        })
        .collect();
    ranges.sort_unstable();
    match ranges.windows(2).find(|pair| pair[1].0 < pair[0].1) {
        Some(pair) => Err(format!("`{}` and `{}` share words", pair[0].2, pair[1].2)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
