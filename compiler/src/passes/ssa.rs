//! Turns a local variable that is assigned only in the block that declares it into a chain of names, one per
//! assignment: every read gets the name of the last assignment before it. The last assignment keeps the
//! model's name, as that is what the model computes.

use super::names;
use crate::ir::{Block, Expr, ExprId, Len, Program, Stmt, Value, VarId, VarKind, VarMap};

/// Renames the variables that allow it.
pub(super) fn run(program: &mut Program) {
    let vars = program.vars.len();
    let mut locals = Locals {
        home: VarMap::filled(None, vars),
        assignments: VarMap::filled(0, vars),
        made: VarMap::filled(0, vars),
        blocks: 0,
    };
    program.each_section(|_, _, block| locals.read(block));
    let mut current: VarMap<Option<Name>> = VarMap::filled(None, vars);
    program.each_section(|program, _, block| {
        rename(program, &mut locals, &mut current, block);
    });
}

struct Locals {
    /// Per variable: the number of the block that declares it, if it is assigned only there.
    home: VarMap<Option<u32>>,
    /// Per variable: assignments to come.
    assignments: VarMap<u32>,
    /// Per variable: names made of it.
    made: VarMap<u32>,
    blocks: u32,
}

/// The current name or literal of a renamed variable.
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
            if let Stmt::Var { var, .. } = stmt {
                self.home[var] = Some(this);
            } else if let Stmt::Assign { var, .. } | Stmt::AssignElement { var, .. } = stmt {
                self.assignments[var] += 1;
                let stays = matches!(stmt, Stmt::Assign { .. }) && self.home[var] == Some(this);
                self.home[var] = self.home[var].filter(|_| stays);
            }
            for inner in stmt.blocks() {
                self.read(inner);
            }
        }
    }
}

fn rename(
    program: &mut Program,
    locals: &mut Locals,
    current: &mut VarMap<Option<Name>>,
    block: &mut Block,
) {
    let mut new = Vec::with_capacity(block.len());
    for mut stmt in std::mem::take(block) {
        stmt.map_roots(|root| {
            reads(program, current, root);
            root
        });
        for inner in stmt.blocks_mut() {
            rename(program, locals, current, inner);
        }
        let (var, value) = if let Stmt::Var { var, value } = stmt
            && program[var].len == Len::One
            && locals.home[var].is_some()
        {
            (var, value)
        } else if let Stmt::Assign { var, value } = stmt
            && locals.home.get(var).is_some_and(Option::is_some)
        {
            locals.assignments[var] -= 1;
            (var, Some(value))
        } else {
            new.push(stmt);
            continue;
        };
        current[var] = Some(bind(program, locals, &mut new, var, value));
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
    let name = if locals.assignments[var] == 0 {
        program[var].kind = VarKind::Let;
        var
    } else {
        let made = &mut locals.made[var];
        *made += 1;
        let name = format!("{}_{made}", program[var].name);
        names::fresh(program, name, ty, VarKind::Let)
    };
    new.push(Stmt::Let { var: name, value });
    Name::Var(name)
}

fn reads(program: &mut Program, current: &VarMap<Option<Name>>, id: ExprId) {
    if let Expr::Read(var) = program[id] {
        let node = match current.get(var).copied().flatten() {
            None => return,
            Some(Name::Var(name)) => Expr::Read(name),
            Some(Name::Literal(value)) => Expr::Literal(value),
        };
        program[id] = node;
        return;
    }
    for &operand in program[id].operands().iter() {
        reads(program, current, operand);
    }
}
