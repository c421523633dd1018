//! The IR as text: a line a statement, expression trees inline with only the parentheses they need.
//!
//! For people and snapshots; nothing reads it back. Names that are not unique get the variable's number.

mod expr;

use super::{Block, Len, Program, Section, Stmt, Type, Var, VarId, VarKind};
use std::collections::HashMap;
use std::fmt::Write;

/// The program as text, the same for equal programs.
pub fn print(program: &Program) -> String {
    let mut printer = Printer {
        program,
        names: names(program),
        text: String::new(),
        depth: 0,
    };
    printer.declarations();
    for section in program.sections() {
        let head = printer.head(section);
        printer.section(&head, program.section(section));
    }
    printer.text
}

struct Printer<'a> {
    program: &'a Program,
    names: Vec<String>,
    text: String,
    depth: usize,
}

/// A name for every variable: its own if no other variable has it.
fn names(program: &Program) -> Vec<String> {
    let mut bearers: HashMap<&str, u32> = HashMap::new();
    for var in &program.vars {
        *bearers.entry(&var.name).or_default() += 1;
    }
    (program.vars.iter().enumerate())
        .map(|(number, var)| match bearers[var.name.as_str()] {
            1 => var.name.clone(),
            _ => format!("{}.{number}", var.name),
        })
        .collect()
}

impl Printer<'_> {
    fn name(&self, var: VarId) -> &str {
        &self.names[var.0 as usize]
    }

    /// `name: type`.
    fn typed(&self, id: VarId) -> String {
        let Var { ty, len, .. } = &self.program[id];
        format!("{}: {}", self.name(id), shape(*ty, *len))
    }

    fn declarations(&mut self) {
        for (var, elements) in &self.program.constants {
            let elements: Vec<String> = elements.iter().map(expr::double_literal).collect();
            let line = format!("const {} = [{}]", self.typed(*var), elements.join(", "));
            self.line(&line);
        }
        let Program {
            params,
            data,
            inputs,
            states,
            outputs,
            world_inputs,
            world_states,
            world_outputs,
            ..
        } = self.program;
        let world = [world_inputs, world_states, world_outputs];
        let samples = (self.program.samples.iter())
            .flat_map(|sample| [&sample.records, &sample.world_records]);
        for list in [params, data, inputs, states, outputs]
            .into_iter()
            .chain(world)
            .chain(samples)
        {
            for &var in list {
                let word = match self.program[var].kind {
                    VarKind::Data => "binding",
                    VarKind::Constant
                    | VarKind::Param
                    | VarKind::Input
                    | VarKind::State
                    | VarKind::Output
                    | VarKind::WorldInput
                    | VarKind::WorldState
                    | VarKind::WorldOutput
                    | VarKind::Record
                    | VarKind::WorldRecord
                    | VarKind::Let
                    | VarKind::Local
                    | VarKind::Index
                    | VarKind::Argument => "word",
                };
                let kind = format!("{:?}", self.program[var].kind).to_lowercase();
                let line = format!(
                    "{kind} {} @ {word} {}",
                    self.typed(var),
                    self.program[var].word
                );
                self.line(&line);
            }
        }
    }

    fn head(&self, section: Section) -> String {
        match section {
            Section::Function(number) => {
                let function = &self.program.functions[number];
                let params: Vec<String> = (function.params.iter())
                    .map(|&param| self.typed(param))
                    .collect();
                let (name, result) = (&function.name, function.result.name());
                format!("fn {name}#{number}({}) -> {result}", params.join(", "))
            }
            Section::InputDefault(number) => {
                let default = &self.program.input_defaults[number];
                format!("default {} step {:#x}", default.input, default.random_step)
            }
            Section::Init
            | Section::Prologue
            | Section::Phase(_)
            | Section::End(_)
            | Section::Sample(_)
            | Section::Finish => self.program.section_name(section),
        }
    }

    /// A block under a heading; nothing if it is empty.
    fn section(&mut self, head: &str, block: &Block) {
        if block.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.line(&format!("{head} {{"));
        self.nested(block);
        self.line("}");
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "{:width$}{line}", "", width = 4 * self.depth)
            .expect("a String takes all");
    }

    fn nested(&mut self, block: &Block) {
        self.depth += 1;
        // A model may nest blocks deeper than the stack.
        stacker::maybe_grow(32 * 1024, 1024 * 1024, || {
            for stmt in block {
                self.statement(stmt);
            }
        });
        self.depth -= 1;
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { var, value } => {
                let line = format!("let {} = {}", self.typed(*var), self.expr(*value));
                self.line(&line);
            }
            Stmt::Var { var, value } => {
                let mut line = format!("var {}", self.typed(*var));
                if let Some(value) = value {
                    line += " = ";
                    line += &self.expr(*value);
                }
                self.line(&line);
            }
            Stmt::Assign { var, value } => {
                let line = format!("{} = {}", self.name(*var), self.expr(*value));
                self.line(&line);
            }
            Stmt::AssignElement { var, index, value } => {
                let (index, value) = (self.expr(*index), self.expr(*value));
                let line = format!("{}[{index}] = {value}", self.name(*var));
                self.line(&line);
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                let line = format!("if {} {{", self.expr(*condition));
                self.line(&line);
                self.nested(accept);
                if !reject.is_empty() {
                    self.line("} else {");
                    self.nested(reject);
                }
                self.line("}");
            }
            Stmt::For {
                index,
                start,
                end,
                body,
            } => {
                let (start, end) = (self.expr(*start), self.expr(*end));
                let line = format!("for {} in {start}..{end} {{", self.name(*index));
                self.line(&line);
                self.nested(body);
                self.line("}");
            }
            Stmt::Break => self.line("break"),
            Stmt::Continue => self.line("continue"),
            Stmt::Stop => self.line("stop"),
            Stmt::Return(value) => {
                let line = format!("return {}", self.expr(*value));
                self.line(&line);
            }
        }
    }
}

fn shape(ty: Type, len: Len) -> String {
    match len {
        Len::One => ty.name().to_owned(),
        Len::Fixed(count) => format!("[{}; {count}]", ty.name()),
        Len::Open { stride } => format!("[{}; rows * {stride}]", ty.name()),
    }
}

#[cfg(test)]
mod tests;
