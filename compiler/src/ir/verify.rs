//! The invariants of the IR, checked: what every stage before may not break and every stage after may
//! rely on. A complaint is a bug of the compiler, never of a model.

mod layout;
mod types;

use super::{Block, ExprId, FunctionId, Len, Program, Stmt, Type, VarId, VarKind};

/// Which part of the program is looked at: decides what may be read, assigned and called there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Init,
    Prologue,
    Step,
    Finish,
    Function(FunctionId),
    /// Of that number in `input_defaults`.
    Default(usize),
}

struct Verifier<'a> {
    program: &'a Program,
    section: Section,
    /// By expression: has a user been seen?
    used: Vec<bool>,
    /// By expression, once seen.
    types: Vec<Option<Type>>,
    /// By variable: has its `Let` or `Var` been seen?
    declared: Vec<bool>,
    /// By variable: may it be named here?
    in_scope: Vec<bool>,
    /// By variable: is it assigned in `init`; is it in `step`; is it in `finish`?
    assigned: Vec<[bool; 3]>,
    /// `For`s around the current statement.
    loops: u32,
}

/// Checks every invariant that the head of `ir` lists.
///
/// # Errors
/// The first invariant that does not hold, and where.
pub fn verify(program: &Program) -> Result<(), String> {
    layout::verify(program)?;
    let vars = program.vars.len();
    let mut verifier = Verifier {
        program,
        section: Section::Init,
        used: vec![false; program.exprs.len()],
        types: vec![None; program.exprs.len()],
        declared: vec![false; vars],
        in_scope: vec![false; vars],
        assigned: vec![[false; 3]; vars],
        loops: 0,
    };
    for (number, function) in program.functions.iter().enumerate() {
        verifier.section = Section::Function(FunctionId(number as u32));
        verifier.function(function)?;
    }
    for (number, default) in program.input_defaults.iter().enumerate() {
        verifier.top(Section::Default(number), &default.body)?;
    }
    verifier.top(Section::Init, &program.init)?;
    verifier.prologue()?;
    verifier.top(Section::Step, &program.step)?;
    verifier.top(Section::Finish, &program.finish)?;
    verifier.assignments()?;
    verifier.shared_steps()
}

impl Verifier<'_> {
    /// A complaint about the current section.
    fn complain<T>(&self, what: &str) -> Result<T, String> {
        let place = match self.section {
            Section::Init => "init".to_owned(),
            Section::Prologue => "prologue".to_owned(),
            Section::Step => "step".to_owned(),
            Section::Finish => "finish".to_owned(),
            Section::Function(id) => format!("fn {}", self.program[id].name),
            Section::Default(number) => {
                format!("default of {}", self.program.input_defaults[number].input)
            }
        };
        Err(format!("in {place}: {what}"))
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
            self.in_scope[param.0 as usize] = false;
        }
        if returns(&function.body) {
            Ok(())
        } else {
            self.complain("a path ends without a return")
        }
    }

    fn top(&mut self, section: Section, block: &Block) -> Result<(), String> {
        self.section = section;
        self.block(block)
    }

    /// Only `let`s, whose names reach to the end of the program.
    fn prologue(&mut self) -> Result<(), String> {
        self.section = Section::Prologue;
        for stmt in &self.program.prologue {
            match stmt {
                Stmt::Let { .. } => self.statement(stmt)?,
                Stmt::Var { .. }
                | Stmt::Assign { .. }
                | Stmt::AssignElement { .. }
                | Stmt::If { .. }
                | Stmt::For { .. }
                | Stmt::Break
                | Stmt::Continue
                | Stmt::Stop
                | Stmt::Return(_) => return self.complain("a statement that is no `let`"),
            }
        }
        Ok(())
    }

    /// `init` gives every state a value and `finish` every output; the prologue reads no state that `step`
    /// changes.
    fn assignments(&self) -> Result<(), String> {
        for &state in &self.program.states {
            let [born, _, _] = self.assigned[state.0 as usize];
            if !born {
                return Err(format!("init leaves {} without a value", self.name(state)));
            }
        }
        for &output in &self.program.outputs {
            let [_, _, ended] = self.assigned[output.0 as usize];
            if !ended {
                return Err(format!(
                    "finish leaves {} without a value",
                    self.name(output)
                ));
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

    /// If lanes share out the steps: each state that `step` assigns is accumulated or skipped ahead.
    fn shared_steps(&self) -> Result<(), String> {
        let program = self.program;
        let accumulated = program.shared_time.iter().map(|(var, _)| *var);
        let skipped: Vec<VarId> = program.skipped.iter().map(|(var, _)| *var).collect();
        let integer = |var: &VarId| {
            let var = &program[*var];
            var.len == Len::One && matches!(var.ty, Type::I32 | Type::U32)
        };
        if let Some(&var) = skipped.iter().find(|var| !integer(var)) {
            return Err(format!("{} is no integer to skip ahead", self.name(var)));
        }
        let mut listed: Vec<VarId> = accumulated.chain(skipped).collect();
        if listed.is_empty() {
            return Ok(());
        }
        listed.sort_unstable();
        let (states, marks) = (program.states.iter(), &self.assigned);
        let mut assigned: Vec<VarId> = states.copied().collect();
        assigned.retain(|var| marks[var.0 as usize][1]);
        assigned.sort_unstable();
        if program.lanes < 2 || program.shared_time.is_empty() || listed != assigned {
            return Err("the lanes do not know what shared steps do to states".to_owned());
        }
        Ok(())
    }

    /// A state in the expression that `step` assigns.
    fn changing_state(&self, root: ExprId) -> Option<VarId> {
        let mut waiting = vec![root];
        while let Some(node) = waiting.pop() {
            if let super::Expr::Read(var) | super::Expr::Element { array: var, .. } =
                self.program[node]
                && self.assigned[var.0 as usize][1]
            {
                return Some(var);
            }
            waiting.extend(self.program.operands(node));
        }
        None
    }

    fn block(&mut self, block: &Block) -> Result<(), String> {
        for stmt in block {
            self.statement(stmt)?;
        }
        // The prologue's block is not looked at through here: its names stay.
        for stmt in block {
            if let Stmt::Let { var, .. } | Stmt::Var { var, .. } = stmt {
                self.in_scope[var.0 as usize] = false;
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
            } => self.rounds(*index, *start, *end, body),
            Stmt::Break | Stmt::Continue if self.loops == 0 => {
                self.complain("break or continue outside a for")
            }
            Stmt::Break | Stmt::Continue => Ok(()),
            Stmt::Stop if self.section == Section::Step => Ok(()),
            Stmt::Stop => self.complain("stop outside step"),
            Stmt::Return(value) => match self.section {
                Section::Function(id) => self.expect(*value, self.program[id].result),
                Section::Init
                | Section::Prologue
                | Section::Step
                | Section::Finish
                | Section::Default(_) => self.complain("return outside a function"),
            },
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

    fn rounds(
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
        self.in_scope[index.0 as usize] = false;
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
        let place = var.0 as usize;
        if std::mem::replace(&mut self.declared[place], true) {
            return self.complain(&format!("{} is declared twice", self.name(var)));
        }
        self.in_scope[place] = true;
        Ok(())
    }

    /// May this section assign the variable? Remembers that it does.
    fn assignable(&mut self, var: VarId) -> Result<(), String> {
        self.exists(var)?;
        let fine = match self.program[var].kind {
            VarKind::Local => self.in_scope[var.0 as usize],
            VarKind::State => matches!(
                self.section,
                Section::Init | Section::Step | Section::Finish
            ),
            VarKind::Output => self.section == Section::Finish,
            VarKind::Input => self.own_input(var),
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
        let marks = &mut self.assigned[var.0 as usize];
        match self.section {
            Section::Init => marks[0] = true,
            Section::Step => marks[1] = true,
            Section::Finish => marks[2] = true,
            Section::Prologue | Section::Function(_) | Section::Default(_) => {}
        }
        Ok(())
    }

    /// Is this the default of that input?
    fn own_input(&self, var: VarId) -> bool {
        match self.section {
            Section::Default(number) => {
                let input = self.program.input_defaults[number].input.as_str();
                (self.program[var].name.strip_prefix(input))
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            }
            Section::Init
            | Section::Prologue
            | Section::Step
            | Section::Finish
            | Section::Function(_) => false,
        }
    }
}

/// Does every path through the block end in a `Return`?
fn returns(block: &Block) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Return(_) => true,
        Stmt::If { accept, reject, .. } => stacker::maybe_grow(32 * 1024, 1024 * 1024, || {
            returns(accept) && returns(reject)
        }),
        Stmt::Let { .. }
        | Stmt::Var { .. }
        | Stmt::Assign { .. }
        | Stmt::AssignElement { .. }
        | Stmt::For { .. }
        | Stmt::Break
        | Stmt::Continue
        | Stmt::Stop => false,
    })
}

#[cfg(test)]
mod tests;
