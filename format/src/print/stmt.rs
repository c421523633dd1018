//! Statements and blocks.

use super::{Printer, Space};
use crate::align::Kind;
use sim_compiler::syntax::{
    Token,
    ast::{Arm, BinaryOp, Block, Expr, ExprKind, PatternKind, Stmt, StmtKind},
};

impl Printer<'_> {
    /// `{ … }`, with a line for each statement.
    pub(super) fn block(&mut self, block: &Block) {
        self.bracket(Space::Hard, |p| {
            for (index, stmt) in block.stmts.iter().enumerate() {
                p.line_or_first();
                p.stmt(stmt);
                let last = index + 1 == block.stmts.len();
                // Without it, `return` would take what follows as its value.
                if matches!(stmt.kind, StmtKind::Return(None)) && !last && p.at_expression() {
                    p.separator(";");
                }
            }
        });
    }

    /// Whether a statement follows that begins like an expression.
    fn at_expression(&self) -> bool {
        use Token::{Agents, Ident, If, Step, Steps};
        matches!(self.peek(), Some(Ident | Agents | Steps | Step | If))
    }

    /// Every row of a block begins a line; what is due before the first one is due already.
    pub(super) fn line_or_first(&mut self) {
        if !self.pending.first {
            self.line();
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { ty, value, .. } | StmtKind::Var { ty, value, .. } => {
                self.head(ty.as_ref());
                self.source(Kind::Binding, Token::Assign, value);
                self.end_of_cells();
            }
            StmtKind::Assign { place, op, value } => self.assignment(place, *op, value),
            StmtKind::If {
                branches,
                otherwise,
            } => self.branches(branches, otherwise.as_ref()),
            StmtKind::For { domain, body, .. } => {
                self.index(domain);
                self.one_flush();
                self.block(body);
            }
            StmtKind::While {
                condition,
                limit,
                body,
            } => {
                self.header(condition, limit.as_ref());
                self.block(body);
            }
            StmtKind::Match { value, arms } => {
                self.header(value, None);
                self.bracket(Space::Hard, |p| {
                    for arm in arms {
                        p.line_or_first();
                        p.arm(arm);
                    }
                });
            }
            StmtKind::Return(value) => self.leave(value.as_ref()),
            StmtKind::Break | StmtKind::Continue | StmtKind::Stop => self.word(),
            StmtKind::Integrate { dt, body, .. } => {
                self.head(None);
                self.bracket(Space::Soft, |p| p.expr(dt));
                self.one_flush();
                self.block(body);
            }
            StmtKind::Equation { value, .. } => {
                self.word();
                self.token(Token::Prime);
                self.source(Kind::Equation, Token::Assign, value);
                self.end_of_cells();
            }
            StmtKind::Assert { condition, .. } => self.assert(condition),
            StmtKind::Block(body) => self.block(body),
            StmtKind::Expr(value) => self.expr(value),
            StmtKind::Error => self.lose("a statement"),
        }
    }

    fn assignment(&mut self, place: &Expr, op: Option<BinaryOp>, value: &Expr) {
        self.expr(place);
        if op.is_none() {
            self.source(Kind::Assignment, Token::Assign, value);
            self.end_of_cells();
        } else {
            self.one();
            self.word();
            self.one();
            self.value(value);
        }
    }

    /// `if a { } else if b { } else { }`
    fn branches(&mut self, branches: &[(Expr, Block)], otherwise: Option<&Block>) {
        for (index, (condition, body)) in branches.iter().enumerate() {
            if index > 0 {
                self.otherwise();
            }
            self.header(condition, None);
            self.block(body);
        }
        if let Some(body) = otherwise {
            self.otherwise();
            self.block(body);
        }
    }

    /// ` else `
    pub(super) fn otherwise(&mut self) {
        self.one_flush();
        self.token(Token::Else);
        self.one_flush();
    }

    /// `if c`, `while c limit n`, `match e`, and the space before the brace. Where a chain of operators goes
    /// over a line, the brace gets its own, so that the body stands out.
    fn header(&mut self, subject: &Expr, limit: Option<&Expr>) {
        if !matches!(subject.kind, ExprKind::Binary(..)) {
            self.word();
            self.one();
            self.expr(subject);
            self.limit(Space::One, limit);
            return self.one_flush();
        }
        self.group(|p| {
            p.word();
            p.one();
            p.nest(|p| {
                p.bare(subject);
                p.limit(Space::Line, limit);
            });
            p.space(Space::Line);
            p.settle();
        });
    }

    fn limit(&mut self, space: Space, limit: Option<&Expr>) {
        if let Some(limit) = limit {
            self.space(space);
            self.token(Token::Ident);
            self.one();
            self.expr(limit);
        }
    }

    /// `A | B => …`
    fn arm(&mut self, arm: &Arm) {
        self.group(|p| {
            p.nest(|p| {
                for (index, pattern) in arm.patterns.iter().enumerate() {
                    if index > 0 {
                        p.space(Space::Line);
                        p.token(Token::Or);
                        p.one();
                    }
                    match &pattern.kind {
                        PatternKind::Rest => p.token(Token::Underscore),
                        PatternKind::Value(value) => p.expr(value),
                    }
                }
            });
        });
        self.one();
        self.token(Token::FatArrow);
        if self.peek() == Some(Token::LeftBrace) {
            self.one_flush();
            self.block(&arm.body);
        } else {
            self.one();
            // Arms do not align.
            self.end_of_cells();
            for stmt in &arm.body.stmts {
                self.stmt(stmt);
            }
            self.separator(",");
        }
    }

    /// `assert c, "message"`: a message that does not fit gets a line of its own.
    fn assert(&mut self, condition: &Expr) {
        self.group(|p| {
            p.word();
            p.one();
            p.nest(|p| {
                p.bare(condition);
                p.separator(",");
                p.space(Space::Line);
                p.token(Token::Text);
            });
        });
    }

    /// `return e`, `return`
    fn leave(&mut self, value: Option<&Expr>) {
        self.word();
        if let Some(value) = value {
            self.one();
            self.value(value);
        }
    }
}
