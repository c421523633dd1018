//! Branches and loops.

use crate::{
    emit::wgsl::{Writer, operator::Level},
    ir::{BinaryOp, Block, Expr, ExprId, Len, Stmt, Value, VarId, VarKind},
    kernel::{lanes::stops, usage::LanePlace},
};

/// Links of an `else if` chain at most: tint counts each as a level of nesting.
const LINKS: usize = 30;

/// An `if` of a chain, and what follows its `else`.
#[derive(Clone, Copy)]
struct Link<'b> {
    condition: ExprId,
    accept: &'b Block,
    reject: &'b Block,
}

impl<'b> Link<'b> {
    /// The `else if`, if its `else` is one.
    fn next(self) -> Option<Link<'b>> {
        match self.reject.as_slice() {
            [
                Stmt::If {
                    condition,
                    accept,
                    reject,
                },
            ] => Some(Link {
                condition: *condition,
                accept,
                reject,
            }),
            _ => None,
        }
    }
}

impl Writer<'_> {
    /// Writes an `if`. Is its end reachable?
    pub(super) fn conditional(
        &mut self,
        condition: ExprId,
        accept: &Block,
        reject: &Block,
    ) -> bool {
        if accept.is_empty() && reject.is_empty() {
            return true;
        }
        if let Some(falls) = self.common_if(condition, accept, reject) {
            return falls;
        }
        let first = Link {
            condition,
            accept,
            reject,
        };
        if !self.is_cut(first) {
            return self.chain(first, None).0;
        }
        // What does not fit one chain of WGSL follows it, and runs if none of its arms did.
        self.chain_cut = true;
        let other = self.names.declare("other");
        self.line(&format!("var {other} = false;"));
        let (mut falls, mut next) = self.chain(first, Some(&other));
        while let Some(link) = next {
            self.open(&format!("if ({other}) {{"));
            self.names.enter();
            self.line(&format!("{other} = false;"));
            let part = self.chain(link, Some(&other));
            self.names.leave();
            self.close("}");
            falls |= part.0;
            next = part.1;
        }
        falls
    }

    /// Does a chain have too many links, or one whose condition needs `let`s before it?
    fn is_cut(&self, mut link: Link) -> bool {
        let mut links = 0;
        while let Some(next) = link.next() {
            links += 1;
            if links > LINKS || self.is_deep(next.condition) {
                return true;
            }
            link = next;
        }
        false
    }

    /// Writes an `if` with its `else if`s, as many as WGSL takes; if there are more, sets `other` instead and
    /// returns the first of them. Also: is the end of any arm reachable?
    fn chain<'b>(&mut self, first: Link<'b>, other: Option<&str>) -> (bool, Option<Link<'b>>) {
        self.cut(first.condition);
        self.begin();
        self.push("if (");
        if first.accept.is_empty() && first.next().is_none() {
            self.push("!");
            self.expr(first.condition, Level::Unary);
            self.end(") {");
            self.indent += 1;
            self.block(first.reject);
            self.close("}");
            return (true, None);
        }
        self.expr(first.condition, Level::Lowest);
        self.end(") {");
        self.indent += 1;
        let mut falls = self.block(first.accept);
        let (mut link, mut links) = (first, 0);
        while let Some(next) = link.next() {
            if let Some(other) = other
                && (links == LINKS || self.is_deep(next.condition))
            {
                self.otherwise();
                self.line(&format!("{other} = true;"));
                self.close("}");
                return (falls, Some(next));
            }
            links += 1;
            self.indent -= 1;
            self.begin();
            self.push("} else if (");
            self.expr(next.condition, Level::Lowest);
            self.end(") {");
            self.indent += 1;
            falls |= self.block(next.accept);
            link = next;
        }
        if link.reject.is_empty() {
            falls = true;
        } else {
            self.otherwise();
            falls |= self.block(link.reject);
        }
        self.close("}");
        (falls, None)
    }

    fn otherwise(&mut self) {
        self.close("} else {");
        self.indent += 1;
    }

    /// Writes a loop.
    pub(super) fn for_loop(
        &mut self,
        index: VarId,
        start: ExprId,
        end: ExprId,
        body: &Block,
    ) -> bool {
        if body.is_empty() || self.common_for(index, start, end, body) {
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
        self.share_name(index);
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
        let around = std::mem::take(&mut self.in_common_loop);
        self.block(body);
        self.in_common_loop = around;
        self.close("}");
        self.names.leave();
        if self.usage.stops && stops(body) && !self.time_loop.outlives_stop {
            let stopped = format!("if ({}) {{", self.own.stopped);
            self.open(&stopped);
            self.line("break;");
            self.close("}");
        }
        true
    }

    /// Is an expression cheap and invariant in its loop?
    fn is_stable(&self, id: ExprId) -> bool {
        if self.hoisted.contains_key(&id) {
            return true;
        }
        if let Expr::Binary(BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, a, b) =
            self.program[id]
        {
            return self.is_stable(a) && self.is_stable(b);
        }
        let Expr::Read(var) = self.program[id] else {
            let expr = &self.program[id];
            return matches!(
                expr,
                Expr::Literal(Value::I32(_)) | Expr::Launch(_) | Expr::Rows(_)
            );
        };
        match self.program[var].kind {
            VarKind::Param | VarKind::Let | VarKind::Index | VarKind::Argument => {
                self.program[var].len == Len::One
            }
            VarKind::Input => self.input_names.contains_key(&(var, LanePlace::default())),
            VarKind::State
            | VarKind::Output
            | VarKind::WorldInput
            | VarKind::WorldState
            | VarKind::WorldOutput
            | VarKind::Record
            | VarKind::WorldRecord
            | VarKind::Local => self.usage.assigned[var] == 0,
            VarKind::Constant | VarKind::Data => false,
        }
    }
}
