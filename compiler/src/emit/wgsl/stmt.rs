//! Statements and functions, one line a statement.

use super::{Writer, literal, operator::Level};
use crate::{
    emit::usage::stops,
    ir::{BinaryOp, Block, Expr, ExprId, Function, Len, Stmt, Value, VarId, VarKind},
};

/// Links of an `else if` chain at most: tint counts each as a level of nesting.
const LINKS: usize = 30;

impl Writer<'_> {
    /// Writes the functions of the model that are called.
    pub(super) fn functions(&mut self) {
        let program = self.program;
        for (k, function) in program.functions.iter().enumerate() {
            if self.usage.called[k] {
                self.blank();
                self.function(k, function);
            }
        }
    }

    fn function(&mut self, k: usize, function: &Function) {
        self.own.agent = self.own.function_agent.clone();
        self.doc(&function.doc);
        self.names.enter();
        self.begin();
        self.push("fn ");
        let name = &self.function_names[k];
        self.out.push_str(name);
        self.push("(");
        for (k, &param) in function.params.iter().enumerate() {
            if k > 0 {
                self.push(", ");
            }
            self.declare(param);
            self.push_name(param);
            self.push(": ");
            self.push(literal::type_name(self.program[param].ty));
        }
        let result = literal::type_name(function.result);
        self.end(&format!(") -> {result} {{"));
        self.indent += 1;
        self.chain_cut = false;
        self.block(&function.body);
        if self.chain_cut {
            // Nothing gets here, but a chain that was cut hides that from WGSL.
            self.line(&format!("return {result}();"));
        }
        self.close("}");
        self.names.leave();
    }

    /// Writes a block in a scope of its own. Does the flow reach its end?
    pub(super) fn block(&mut self, block: &Block) -> bool {
        self.names.enter();
        let falls = self.statements(block);
        self.names.leave();
        falls
    }

    /// Writes statements into the scope at hand, as far as the flow reaches.
    pub(super) fn statements(&mut self, block: &Block) -> bool {
        block.iter().all(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let { var, value } => {
                self.cut(*value);
                self.declaration("let ", *var, *value);
            }
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
        if self.private[id.0 as usize] {
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
            Some(value) if self.usage.assigned[id.0 as usize] == 0 => {
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

    /// Does an output go to its buffer where it is assigned?
    pub(super) fn is_direct(&self, var: VarId) -> bool {
        self.program[var].kind == VarKind::Output && self.usage.read[var.0 as usize] == 0
    }

    fn assign(&mut self, var: VarId, value: ExprId) {
        if self.is_direct(var) {
            self.output_doc(var);
            return self.store_output(var, None, value);
        }
        let program = self.program;
        self.begin();
        self.push_name(var);
        let compound = match &program[value] {
            Expr::Binary(op, a, b) if matches!(program[*a], Expr::Read(read) if read == var) => {
                self.compound(*op, *a, *b)
            }
            _ => false,
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

    /// The operator and operands of `a[i] = a[i] op b`, for an index that is plainly the same.
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
        let simple = matches!(program[index], Expr::Literal(_) | Expr::Read(_));
        (array == var && simple && program[index] == program[other]).then_some((op, a, b))
    }

    /// The documentation of an output that is assigned in one place.
    fn output_doc(&mut self, var: VarId) {
        if self.usage.assigned[var.0 as usize] == 1 {
            let program = self.program;
            self.doc(&program[var].doc);
        }
    }

    fn conditional(&mut self, condition: ExprId, accept: &Block, reject: &Block) -> bool {
        if accept.is_empty() && reject.is_empty() {
            return true;
        }
        let links = self.links(reject);
        if links <= LINKS {
            return self.chain(condition, accept, reject, None).0;
        }
        // A chain too long for tint goes on after its end, if none of its arms ran.
        self.chain_cut = true;
        let other = self.names.declare("other");
        self.line(&format!("var {other} = false;"));
        let (mut falls, mut next) = self.chain(condition, accept, reject, Some(&other));
        while let Some((condition, accept, reject)) = next {
            self.open(&format!("if ({other}) {{"));
            self.line(&format!("{other} = false;"));
            let part = self.chain(condition, accept, reject, Some(&other));
            self.close("}");
            falls |= part.0;
            next = part.1;
        }
        falls
    }

    /// How many `else if`s a chain has.
    fn links(&self, mut reject: &Block) -> usize {
        let mut links = 0;
        while let [Stmt::If { reject: next, .. }] = reject.as_slice() {
            links += 1;
            reject = next;
        }
        links
    }

    /// Writes an `if` with its `else if`s. When there are too many and `other` names a variable, that
    /// becomes true and the rest is returned. Also: does the flow reach the end of any arm?
    fn chain<'b>(
        &mut self,
        condition: ExprId,
        accept: &'b Block,
        mut reject: &'b Block,
        other: Option<&str>,
    ) -> (bool, Option<(ExprId, &'b Block, &'b Block)>) {
        self.cut(condition);
        self.begin();
        self.push("if (");
        if accept.is_empty() {
            self.push("!");
            self.expr(condition, Level::Unary);
            self.end(") {");
            self.indent += 1;
            self.block(reject);
            self.close("}");
            return (true, None);
        }
        self.expr(condition, Level::Lowest);
        self.end(") {");
        self.indent += 1;
        let mut falls = self.block(accept);
        let mut links = 0;
        loop {
            match reject.as_slice() {
                [] => {
                    self.close("}");
                    return (true, None);
                }
                [
                    Stmt::If {
                        condition,
                        accept,
                        reject: next,
                    },
                ] if !self.is_deep(*condition) => {
                    if let Some(other) = other
                        && links == LINKS
                    {
                        self.close("} else {");
                        self.indent += 1;
                        self.line(&format!("{other} = true;"));
                        self.close("}");
                        return (falls, Some((*condition, accept, next)));
                    }
                    links += 1;
                    self.indent -= 1;
                    self.begin();
                    self.push("} else if (");
                    self.expr(*condition, Level::Lowest);
                    self.end(") {");
                    self.indent += 1;
                    falls |= self.block(accept);
                    reject = next;
                }
                _ => {
                    self.close("} else {");
                    self.indent += 1;
                    falls |= self.block(reject);
                    self.close("}");
                    return (falls, None);
                }
            }
        }
    }

    fn for_loop(&mut self, index: VarId, start: ExprId, end: ExprId, body: &Block) -> bool {
        if body.is_empty() {
            return true;
        }
        self.cut(start);
        self.cut_also(end);
        let bound = (!self.is_stable(end)).then(|| {
            let name = format!("{}_end", self.program[index].name);
            let name = self.names.declare(&name);
            self.begin();
            self.push(&format!("let {name} = "));
            self.expr(end, Level::Lowest);
            self.end(";");
            name
        });
        self.names.enter();
        self.declare(index);
        if self.is_natural(start) {
            self.natural.insert(index);
        }
        self.begin();
        self.push("for (var ");
        self.push_name(index);
        self.push(" = ");
        self.expr(start, Level::Lowest);
        self.push("; ");
        self.push_name(index);
        self.push(" < ");
        match bound {
            Some(name) => self.push(&name),
            None => self.expr(end, Level::Additive),
        }
        self.push("; ");
        self.push_name(index);
        self.end("++) {");
        self.indent += 1;
        self.block(body);
        self.close("}");
        self.names.leave();
        if self.usage.stops && stops(body) {
            let stopped = format!("if ({}) {{", self.own.stopped);
            self.open(&stopped);
            self.line("break;");
            self.close("}");
        }
        true
    }

    /// Does an expression cost next to nothing and stay the same while its loop runs?
    fn is_stable(&self, id: ExprId) -> bool {
        if self.hoisted.contains_key(&id) {
            return true;
        }
        match &self.program[id] {
            Expr::Literal(Value::I32(_)) | Expr::Launch(_) | Expr::Rows(_) => true,
            Expr::Read(var) => match self.program[*var].kind {
                VarKind::Param | VarKind::Let | VarKind::Index | VarKind::Argument => {
                    self.program[*var].len == Len::One
                }
                VarKind::Input => self.input_names.contains_key(&(*var, 0)),
                VarKind::State | VarKind::Output | VarKind::Local => {
                    self.usage.assigned[var.0 as usize] == 0
                }
                VarKind::Constant | VarKind::Data => false,
            },
            Expr::Binary(BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, a, b) => {
                self.is_stable(*a) && self.is_stable(*b)
            }
            Expr::Literal(_)
            | Expr::Element { .. }
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Select { .. }
            | Expr::Convert { .. }
            | Expr::Bitcast { .. }
            | Expr::Builtin(..)
            | Expr::Call(..)
            | Expr::RandomWord { .. } => false,
        }
    }
}
