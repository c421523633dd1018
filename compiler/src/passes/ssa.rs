//! Turns a local variable that only the block that declares it assigns into a chain of names, one per
//! assignment: every read gets the name of the assignment that was the last before it. The last assignment
//! keeps the model's name, as that is what the model computes.

use super::{
    names,
    rewrite::{blocks, blocks_mut, each_section, map_roots, operands},
};
use crate::ir::{Block, Expr, ExprId, Len, Program, Stmt, Value, VarId, VarKind};

/// Renames the variables that allow it.
pub(super) fn run(program: &mut Program) {
    let vars = program.vars.len();
    let mut locals = Locals {
        home: vec![None; vars],
        assignments: vec![0; vars],
        made: vec![0; vars],
        blocks: 0,
    };
    each_section(program, |_, _, block| locals.read(block));
    let mut current: Vec<Option<Name>> = vec![None; vars];
    each_section(program, |program, _, block| {
        rename(program, &mut locals, &mut current, block);
    });
}

struct Locals {
    /// Per variable: the number of the block that declares it, if only that assigns it.
    home: Vec<Option<u32>>,
    /// Per variable: assignments to come.
    assignments: Vec<u32>,
    /// Per variable: names made of it.
    made: Vec<u32>,
    blocks: u32,
}

/// What a renamed variable is at some place.
#[derive(Clone, Copy)]
enum Name {
    Var(VarId),
    Literal(Value),
}

impl Locals {
    fn read(&mut self, block: &[Stmt]) {
        self.blocks += 1;
        let this = self.blocks;
        for stmt in block {
            match stmt {
                Stmt::Var { var, .. } => self.home[var.0 as usize] = Some(this),
                Stmt::Assign { var, .. } => {
                    let at = var.0 as usize;
                    self.assignments[at] += 1;
                    if self.home[at] != Some(this) {
                        self.home[at] = None;
                    }
                }
                Stmt::AssignElement { var, .. } => self.home[var.0 as usize] = None,
                Stmt::Let { .. }
                | Stmt::If { .. }
                | Stmt::For { .. }
                | Stmt::Break
                | Stmt::Continue
                | Stmt::Stop
                | Stmt::Return(_) => {}
            }
            for inner in blocks(stmt).into_iter().flatten() {
                self.read(inner);
            }
        }
    }
}

fn rename(
    program: &mut Program,
    locals: &mut Locals,
    current: &mut Vec<Option<Name>>,
    block: &mut Block,
) {
    let mut new = Vec::with_capacity(block.len());
    for mut stmt in std::mem::take(block) {
        map_roots(&mut stmt, |root| {
            reads(program, current, root);
            root
        });
        for inner in blocks_mut(&mut stmt).into_iter().flatten() {
            rename(program, locals, current, inner);
        }
        let (var, value) = match stmt {
            Stmt::Var { var, value }
                if program[var].len == Len::One && locals.home[var.0 as usize].is_some() =>
            {
                (var, value)
            }
            Stmt::Assign { var, value }
                if locals.home.get(var.0 as usize).is_some_and(Option::is_some) =>
            {
                locals.assignments[var.0 as usize] -= 1;
                (var, Some(value))
            }
            other => {
                new.push(other);
                continue;
            }
        };
        current[var.0 as usize] = Some(bind(program, locals, &mut new, var, value));
    }
    *block = new;
}

/// Names one value of a variable.
fn bind(
    program: &mut Program,
    locals: &mut Locals,
    new: &mut Block,
    var: VarId,
    value: Option<ExprId>,
) -> Name {
    let ty = program[var].ty;
    let Some(value) = value else {
        return Name::Literal(Value::zero(ty));
    };
    if let Expr::Literal(known) = program[value] {
        return Name::Literal(known);
    }
    let name = if locals.assignments[var.0 as usize] == 0 {
        program.vars[var.0 as usize].kind = VarKind::Let;
        var
    } else {
        let made = &mut locals.made[var.0 as usize];
        *made += 1;
        let name = format!("{}_{made}", program[var].name);
        names::fresh(program, name, ty, VarKind::Let)
    };
    new.push(Stmt::Let { var: name, value });
    Name::Var(name)
}

fn reads(program: &mut Program, current: &[Option<Name>], id: ExprId) {
    if let Expr::Read(var) = program[id] {
        let node = match current.get(var.0 as usize).copied().flatten() {
            None => return,
            Some(Name::Var(name)) => Expr::Read(name),
            Some(Name::Literal(value)) => Expr::Literal(value),
        };
        program.exprs[id.0 as usize] = node;
        return;
    }
    for &operand in operands(&program[id]).iter() {
        reads(program, current, operand);
    }
}
