//! Scalar replacement: splits an array all of whose indices are literals into one variable per element:
//! `held[2]` becomes `held_2`. An element of an array and a variable hold the same value; a local array
//! starts as zeros and so do its elements. Each element of a state keeps its word in storage.
//!
//! Scans the whole arena, so `compact` has to run before: what is left of rolled loops would look like
//! indices that are not literals.

use super::rewrite::literal_i32;
use crate::ir::{Block, Expr, ExprId, Len, Program, Stmt, VarId, VarKind, VarMap};

/// Elements that a state may have to be split.
const MAX_ELEMENTS: u32 = 256;

/// Splits the local arrays and states that allow it.
pub(super) fn run(program: &mut Program) {
    let arrays: VarMap<bool> = program
        .vars
        .iter()
        .map(|var| {
            matches!(var.kind, VarKind::Local | VarKind::State)
                && matches!(var.len, Len::Fixed(count) if count <= MAX_ELEMENTS)
        })
        .collect();
    if !arrays.contains(&true) {
        return;
    }
    let mut split = Split {
        whole: arrays,
        used: VarMap::filled(Vec::new(), program.vars.len()),
        elements: VarMap::filled(Vec::new(), program.vars.len()),
    };
    for expr in &program.exprs {
        if let Expr::Element { array, index }
        | Expr::Other {
            var: array,
            index: Some(index),
            ..
        } = expr
        {
            split.note(program, *array, *index);
        }
    }
    program.each_section(|program, _, block| split.read(program, block));
    split.declare(program);
    for at in 0..program.exprs.len() {
        if let Expr::Element { array, index } = program.exprs[at]
            && split.is_split(array)
        {
            program.exprs[at] = Expr::Read(split.element(program, array, index));
        } else if let Expr::Other { var, index, member } = program.exprs[at]
            && let Some(index) = index
            && split.is_split(var)
        {
            program.exprs[at] = Expr::Other {
                var: split.element(program, var, index),
                index: None,
                member,
            };
        }
    }
    program.each_section(|program, _, block| split.rewrite(program, block));
}

struct Split {
    /// Per variable: is it an array to be split?
    whole: VarMap<bool>,
    /// Per variable: which elements occur.
    used: VarMap<Vec<bool>>,
    /// Per variable: its elements' variables, none for those that never occur.
    elements: VarMap<Vec<Option<VarId>>>,
}

impl Split {
    fn read(&mut self, program: &Program, block: &[Stmt]) {
        for stmt in block {
            if let Stmt::AssignElement { var, index, .. } = stmt {
                self.note(program, *var, *index);
            }
            for inner in stmt.blocks() {
                self.read(program, inner);
            }
        }
    }

    fn note(&mut self, program: &Program, array: VarId, index: ExprId) {
        let at = array;
        let Len::Fixed(count) = program[array].len else {
            return;
        };
        match literal_i32(program, index) {
            Some(index) if (0..i64::from(count)).contains(&i64::from(index)) => {
                if self.whole[at] {
                    self.used[at].resize(count as usize, false);
                    self.used[at][index as usize] = true;
                }
            }
            Some(_) | None => self.whole[at] = false,
        }
    }

    fn declare(&mut self, program: &mut Program) {
        let mut states = Vec::new();
        for at in program.var_ids() {
            if !self.whole[at] {
                continue;
            }
            let array = program[at].clone();
            let Len::Fixed(count) = array.len else {
                continue;
            };
            self.used[at].resize(count as usize, false);
            for k in 0..count {
                let mut element = array.clone();
                element.name = format!("{}_{k}", array.name);
                element.len = Len::One;
                if k > 0 {
                    element.doc.clear();
                }
                let state = array.kind == VarKind::State;
                if state {
                    element.word += k * program.words(array.ty);
                }
                let needed = state || self.used[at][k as usize];
                let var = if k == 0 {
                    // Every state is in the list of states: the array itself becomes its first.
                    program[at] = element;
                    Some(at)
                } else {
                    needed.then(|| program.add_var(element))
                };
                self.elements[at].push(var);
            }
        }
        for state in std::mem::take(&mut program.states) {
            match self.elements.get(state) {
                Some(elements) if self.whole[state] => {
                    states.extend(elements.iter().flatten());
                }
                Some(_) | None => states.push(state),
            }
        }
        program.states = states;
    }

    fn is_split(&self, var: VarId) -> bool {
        self.whole.get(var) == Some(&true)
    }

    fn element(&self, program: &Program, array: VarId, index: ExprId) -> VarId {
        let index = literal_i32(program, index).expect("only literals pick from a split array");
        self.elements[array][index as usize].expect("the element occurs")
    }

    fn rewrite(&self, program: &mut Program, block: &mut Block) {
        let mut new = Vec::with_capacity(block.len());
        for mut stmt in std::mem::take(block) {
            for inner in stmt.blocks_mut() {
                self.rewrite(program, inner);
            }
            if let Stmt::Var { var, .. } = stmt
                && self.is_split(var)
            {
                let elements = self.elements[var].iter().flatten();
                new.extend(elements.map(|&var| Stmt::Var { var, value: None }));
            } else if let Stmt::AssignElement { var, index, value } = stmt
                && self.is_split(var)
            {
                let var = self.element(program, var, index);
                new.push(Stmt::Assign { var, value });
            } else {
                new.push(stmt);
            }
        }
        *block = new;
    }
}
