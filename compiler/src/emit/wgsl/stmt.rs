//! Statements, one line each; `flow` writes those that contain others.

use super::{Writer, operator::Level};
use crate::ir::{BinaryOp, Expr, ExprId, Stmt, VarId, VarKind};

impl Writer<'_> {
    /// Writes a block in a scope of its own. Is its end reachable?
    pub(super) fn block(&mut self, block: &[Stmt]) -> bool {
        self.names.enter();
        // Inlining nests blocks deeper than any model's text does.
        let falls = stacker::maybe_grow(64 << 10, 1 << 20, || self.statements(block));
        self.names.leave();
        falls
    }

    /// Writes statements into the current scope, as far as they are reachable.
    pub(super) fn statements(&mut self, block: &[Stmt]) -> bool {
        match self.is_for_all() {
            true => block.iter().all(|stmt| self.stmt_for_all(stmt)),
            false => block.iter().all(|stmt| self.stmt(stmt)),
        }
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let { var, value } => match self.part_of_row(*var, *value) {
                Some(part) => self.var_names[var] = part,
                None => {
                    self.cut(*value);
                    self.declaration("let ", *var, *value);
                }
            },
            Stmt::Var { var, value } => self.var(*var, *value),
            Stmt::Assign { var, value } => {
                self.cut(*value);
                self.assign(*var, *value);
            }
            Stmt::AssignElement { var, index, value } => {
                self.cut(*index);
                self.cut_also(*value);
                self.assign_element(*var, *index, *value);
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } => return self.conditional(*condition, accept, reject),
            Stmt::For {
                index,
                start,
                end,
                body,
            } => return self.for_loop(*index, *start, *end, body),
            Stmt::Break => {
                self.line("break;");
                return false;
            }
            Stmt::Continue => {
                self.line("continue;");
                return false;
            }
            Stmt::Stop => {
                if self.time_loop.outlives_stop {
                    self.put_away();
                    return true;
                }
                let stopped = format!("{} = true;", self.own.stopped);
                self.line(&stopped);
                self.line("break;");
                return false;
            }
            Stmt::Return(value) => {
                self.cut(*value);
                self.begin();
                self.push("return ");
                self.expr(*value, Level::Lowest);
                self.end(";");
                return false;
            }
        }
        true
    }

    fn declaration(&mut self, keyword: &str, var: VarId, value: ExprId) {
        self.declare(var);
        let program = self.program;
        self.doc(&program[var].doc);
        self.begin();
        self.push(keyword);
        self.push_name(var);
        self.push(" = ");
        self.expr(value, Level::Lowest);
        self.end(";");
    }

    fn var(&mut self, id: VarId, value: Option<ExprId>) {
        if let Some(value) = value {
            self.cut(value);
        }
        let program = self.program;
        let var = &program[id];
        if self.clear_spilled(id) {
            return;
        }
        if self.private[id] {
            self.begin();
            self.push_name(id);
            self.push(" = ");
            match value {
                Some(value) => self.expr(value, Level::Lowest),
                None => {
                    self.push_type(var.ty, var.len);
                    self.push("()");
                }
            }
            return self.end(";");
        }
        match value {
            Some(value) if self.usage.assigned[id] == 0 => {
                self.declaration("let ", id, value);
            }
            Some(value) => self.declaration("var ", id, value),
            None => {
                self.declare(id);
                self.zeros(id);
            }
        }
    }

    /// Declares a variable that begins as zeros.
    pub(super) fn zeros(&mut self, id: VarId) {
        let program = self.program;
        let var = &program[id];
        self.doc(&var.doc);
        self.begin();
        self.push("var ");
        self.push_name(id);
        self.push(": ");
        self.push_type(var.ty, var.len);
        self.end(";");
    }

    /// Is an output stored to its buffer where it is assigned?
    pub(super) fn is_direct(&self, var: VarId) -> bool {
        self.program[var].kind == VarKind::Output && self.usage.read[var] == 0
    }

    fn assign(&mut self, var: VarId, value: ExprId) {
        if self.is_direct(var) {
            self.output_doc(var);
            return self.store_output(var, None, value);
        }
        let program = self.program;
        self.begin();
        self.push_name(var);
        let compound = if let Expr::Binary(op, a, b) = program[value] {
            program[a] == Expr::Read(var) && self.compound(op, a, b)
        } else {
            false
        };
        if !compound {
            self.push(" = ");
            self.expr(value, Level::Lowest);
        }
        self.end(";");
    }

    fn assign_element(&mut self, var: VarId, index: ExprId, value: ExprId) {
        if self.is_direct(var) {
            self.output_doc(var);
            return self.store_output(var, Some(index), value);
        }
        if self.assign_spilled(var, index, value) {
            return;
        }
        self.begin();
        self.indexed(var, index);
        let compound = match self.element_update(var, index, value) {
            Some((op, a, b)) => self.compound(op, a, b),
            None => false,
        };
        if !compound {
            self.push(" = ");
            self.expr(value, Level::Lowest);
        }
        self.end(";");
    }

    /// The operator and operands of `a[i] = a[i] op b`, for an index that is evidently the same.
    fn element_update(
        &self,
        var: VarId,
        index: ExprId,
        value: ExprId,
    ) -> Option<(BinaryOp, ExprId, ExprId)> {
        let program = self.program;
        let Expr::Binary(op, a, b) = program[value] else {
            return None;
        };
        let Expr::Element {
            array,
            index: other,
        } = program[a]
        else {
            return None;
        };
        let simple = matches!(
            program[index],
            Expr::Literal(_) | Expr::Double(_) | Expr::Read(_)
        );
        (array == var && simple && program[index] == program[other]).then_some((op, a, b))
    }

    /// The documentation of an output that is assigned in one place.
    fn output_doc(&mut self, var: VarId) {
        if self.usage.assigned[var] == 1 {
            let program = self.program;
            self.doc(&program[var].doc);
        }
    }
}
