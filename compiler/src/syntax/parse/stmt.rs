//! Statements and blocks.

use super::{
    EXPRESSION, Grammar, NAMES, Reader, Rule, STATEMENT, fault::Fault, here, operator::hole,
    recover::Row,
};
use crate::{
    diagnostic::{Diagnostic, catalog::syntax as say},
    foreign,
    span::Span,
    syntax::{
        ast::{Arm, BinaryOp, Block, Expr, ExprKind, Pattern, PatternKind, Stmt, StmtKind, Type},
        lex::content,
        token::{Token, TokenSet},
    },
};
use chumsky::prelude::*;

/// What stands between a place and its new value.
pub(in crate::syntax) const ASSIGNMENTS: TokenSet = TokenSet::of(&[
    Token::Assign,
    Token::PlusAssign,
    Token::MinusAssign,
    Token::StarAssign,
    Token::SlashAssign,
    Token::PercentAssign,
    Token::AndAssign,
    Token::OrAssign,
    Token::CaretAssign,
    Token::ShiftLeftAssign,
    Token::ShiftRightAssign,
]);

fn assignment(token: Token) -> Option<BinaryOp> {
    match token {
        Token::PlusAssign => Some(BinaryOp::Add),
        Token::MinusAssign => Some(BinaryOp::Subtract),
        Token::StarAssign => Some(BinaryOp::Multiply),
        Token::SlashAssign => Some(BinaryOp::Divide),
        Token::PercentAssign => Some(BinaryOp::Remainder),
        Token::AndAssign => Some(BinaryOp::BitAnd),
        Token::OrAssign => Some(BinaryOp::BitOr),
        Token::CaretAssign => Some(BinaryOp::BitXor),
        Token::ShiftLeftAssign => Some(BinaryOp::ShiftLeft),
        Token::ShiftRightAssign => Some(BinaryOp::ShiftRight),
        _ => None,
    }
}

impl<'a> Grammar<'a> {
    /// `{ … }`
    pub(super) fn block(self, expr: Rule<'a, Expr>, ty: Rule<'a, Type>) -> Rule<'a, Block> {
        recursive(|block| {
            let stmt = recursive(|stmt| self.stmt(expr, ty, block.boxed(), stmt.boxed()));
            let hole = |span| Stmt {
                kind: StmtKind::Error,
                span,
            };
            let stray = self.token(Token::Semicolon).repeated();
            let stmts = self
                .recovering(Row::Statement, STATEMENT, stmt.boxed(), hole)
                .then_ignore(stray.clone())
                .repeated()
                .collect();
            stray
                .ignore_then(stmts)
                .delimited_by(self.token(Token::LeftBrace), self.token(Token::RightBrace))
                .map_with(move |stmts, extra| {
                    let tokens: SimpleSpan = extra.span();
                    Block {
                        stmts,
                        span: self.span(tokens.start, tokens.end),
                    }
                })
        })
        .boxed()
    }

    /// One statement; its first token says which.
    fn stmt(
        self,
        expr: Rule<'a, Expr>,
        ty: Rule<'a, Type>,
        block: Rule<'a, Block>,
        stmt: Rule<'a, Stmt>,
    ) -> Rule<'a, Stmt> {
        let binding = self.binding(expr.clone(), ty);
        let branches = self.if_stmt(expr.clone(), block.clone());
        let each = self.for_stmt(expr.clone(), block.clone());
        let while_ = self.while_stmt(expr.clone(), block.clone());
        let match_ = self.match_stmt(expr.clone(), block.clone(), stmt);
        let integrate = self.integrate(expr.clone(), block.clone());
        let word = self.word(expr.clone());
        let assert = self.assert(expr.clone());
        let simple = self.simple(expr);
        let block = block.map(StmtKind::Block).boxed();
        custom(move |inp: &mut Reader<'a, '_>| {
            let from = here(inp);
            let rule = match inp.peek() {
                Some(Token::Let | Token::Var) => &binding,
                Some(Token::If) => &branches,
                Some(Token::For) => &each,
                Some(Token::While) => &while_,
                Some(Token::Match) => &match_,
                Some(Token::Integrate) => &integrate,
                Some(Token::Return | Token::Break | Token::Continue | Token::Stop) => &word,
                Some(Token::Assert) => &assert,
                Some(Token::LeftBrace) => &block,
                Some(token) if NAMES.has(token) || token == Token::Hole => &simple,
                _ => return Err(Fault::unexpected(from, STATEMENT)),
            };
            let kind = inp.parse(rule)?;
            let span = self.span(from, here(inp));
            Ok(Stmt { kind, span })
        })
        .boxed()
    }

    /// `let x: f32 = e`, `var x = e`
    fn binding(self, expr: Rule<'a, Expr>, ty: Rule<'a, Type>) -> Rule<'a, StmtKind> {
        self.one(TokenSet::of(&[Token::Let, Token::Var]))
            .then(self.name())
            .then(self.after(Token::Colon, ty))
            .then_ignore(self.token(Token::Assign))
            .then(expr)
            .map(|(((word, name), ty), value)| match word {
                Token::Let => StmtKind::Let { name, ty, value },
                _ => StmtKind::Var { name, ty, value },
            })
            .boxed()
    }

    /// `place = e`, `place += e`, `x' = e`, or an expression alone.
    fn simple(self, expr: Rule<'a, Expr>) -> Rule<'a, StmtKind> {
        let equals = self.token(Token::Assign);
        custom(move |inp: &mut Reader<'a, '_>| {
            let from = here(inp);
            let place = inp.parse(&expr)?;
            let at = here(inp);
            match inp.peek() {
                Some(token) if ASSIGNMENTS.has(token) => {
                    inp.skip();
                    let value = inp.parse(&expr)?;
                    let op = assignment(token);
                    Ok(StmtKind::Assign { place, op, value })
                }
                Some(Token::LeftBrace) if let Some(diagnostic) = self.foreign_head(&place) => {
                    Err(self.fail(inp, Fault::said(at, diagnostic)))
                }
                Some(Token::Prime) => {
                    if at != from + 1 || !matches!(place.kind, ExprKind::Name(_)) {
                        let diagnostic = say::misplaced_prime(self.place(at));
                        return Err(self.fail(inp, Fault::said(at, diagnostic)));
                    }
                    inp.skip();
                    inp.parse(&equals)?;
                    let value = inp.parse(&expr)?;
                    let state = self.name_at(from);
                    Ok(StmtKind::Equation { state, value })
                }
                Some(next) if matches!(place.kind, ExprKind::Name(_)) => {
                    // A name alone does nothing; with more on its line it is a slip of the grammar.
                    let ends = next.closes() || next == Token::Semicolon || next == Token::Comma;
                    if ends || self.script.marks[at].first {
                        return Ok(StmtKind::Expr(place));
                    }
                    Err(self.fail(inp, Fault::unexpected(at, ASSIGNMENTS)))
                }
                _ if self.is_left_arrow(from) => {
                    let (start, end) = (self.place(from + 1), self.place(from + 2));
                    let diagnostic = say::operator_spelling("<-", "=", start.to(end));
                    Err(self.fail(inp, Fault::said(at, diagnostic)))
                }
                _ => Ok(StmtKind::Expr(place)),
            }
        })
        .boxed()
    }

    /// `switch (n)` and its like before a brace.
    fn foreign_head(self, head: &Expr) -> Option<Diagnostic> {
        let ExprKind::Call { callee, .. } = &head.kind else {
            return None;
        };
        let meant = foreign::statement(&callee.text)?;
        Some(say::foreign_statement(&callee.text, meant, callee.span))
    }

    /// `x <- e`, which reads as a comparison with `-e`.
    fn is_left_arrow(self, from: usize) -> bool {
        let kinds = [Token::Ident, Token::Less, Token::Minus];
        let fits = self.script.tokens.get(from..from + 3) == Some(&kinds[..]);
        fits && self.place(from + 1).end == self.place(from + 2).start
    }

    /// `if a { } else if b { } else { }`
    fn if_stmt(self, expr: Rule<'a, Expr>, block: Rule<'a, Block>) -> Rule<'a, StmtKind> {
        let branch = self
            .token(Token::If)
            .map_with(move |_, extra| {
                let tokens: SimpleSpan = extra.span();
                self.place(tokens.start)
            })
            .then(self.header(expr))
            .then(block.clone())
            .map(|((word, condition), block)| (condition.unwrap_or_else(|| hole(word)), block))
            .boxed();
        custom(move |inp: &mut Reader<'a, '_>| {
            let mut branches = vec![inp.parse(&branch)?];
            let mut otherwise = None;
            while inp.peek() == Some(Token::Else) && otherwise.is_none() {
                inp.skip();
                if inp.peek() == Some(Token::If) {
                    branches.push(inp.parse(&branch)?);
                } else {
                    otherwise = Some(inp.parse(&block)?);
                }
            }
            Ok(StmtKind::If {
                branches,
                otherwise,
            })
        })
        .boxed()
    }

    /// `for i in a..b { }`, `for other in world { }`
    fn for_stmt(self, expr: Rule<'a, Expr>, block: Rule<'a, Block>) -> Rule<'a, StmtKind> {
        self.token(Token::For)
            .ignore_then(self.header(self.index(expr)))
            .then(block)
            .map(|(header, body)| match header {
                Some((index, domain)) => StmtKind::For {
                    index,
                    domain,
                    body,
                },
                None => StmtKind::Error,
            })
            .boxed()
    }

    /// `while c limit N { }`
    fn while_stmt(self, expr: Rule<'a, Expr>, block: Rule<'a, Block>) -> Rule<'a, StmtKind> {
        let limit = self.after_word("limit", expr.clone());
        self.token(Token::While)
            .ignore_then(self.header(expr.then(limit).boxed()))
            .then(block)
            .map(|(header, body)| match header {
                Some((condition, limit)) => StmtKind::While {
                    condition,
                    limit,
                    body,
                },
                None => StmtKind::Error,
            })
            .boxed()
    }

    /// `match e { A | B => stmt, C => { … } }`
    fn match_stmt(
        self,
        expr: Rule<'a, Expr>,
        block: Rule<'a, Block>,
        stmt: Rule<'a, Stmt>,
    ) -> Rule<'a, StmtKind> {
        let lost = |span| Arm {
            patterns: vec![Pattern {
                kind: PatternKind::Value(hole(span)),
                span,
            }],
            body: Block {
                stmts: vec![Stmt {
                    kind: StmtKind::Error,
                    span,
                }],
                span,
            },
            span,
        };
        let arm = self.arm(expr.clone(), block, stmt);
        let first = EXPRESSION.or(TokenSet::of(&[Token::Underscore]));
        let arms = self
            .recovering(Row::Arm, first, arm, lost)
            .then_ignore(self.token(Token::Comma).or_not())
            .repeated()
            .collect()
            .delimited_by(self.token(Token::LeftBrace), self.token(Token::RightBrace));
        self.token(Token::Match)
            .ignore_then(self.header(expr))
            .then(arms)
            .map_with(move |(value, arms), extra| {
                let tokens: SimpleSpan = extra.span();
                let value = value.unwrap_or_else(|| hole(self.place(tokens.start)));
                StmtKind::Match { value, arms }
            })
            .boxed()
    }

    fn arm(
        self,
        expr: Rule<'a, Expr>,
        block: Rule<'a, Block>,
        stmt: Rule<'a, Stmt>,
    ) -> Rule<'a, Arm> {
        let rest = self.token(Token::Underscore).to(PatternKind::Rest);
        let value = self.pattern(expr).map(PatternKind::Value);
        let patterns = choice((rest, value))
            .map_with(move |kind, extra| {
                let tokens: SimpleSpan = extra.span();
                Pattern {
                    kind,
                    span: self.span(tokens.start, tokens.end),
                }
            })
            .separated_by(self.token(Token::Or))
            .at_least(1)
            .collect::<Vec<_>>()
            .then_ignore(self.token(Token::FatArrow));
        custom(move |inp: &mut Reader<'a, '_>| {
            let from = here(inp);
            let patterns = inp.parse(&patterns)?;
            let body = if inp.peek() == Some(Token::LeftBrace) {
                inp.parse(&block)?
            } else {
                let stmt = inp.parse(&stmt)?;
                let at = here(inp);
                let braced = self.script.tokens.get(at.wrapping_sub(1)) == Some(&Token::RightBrace);
                let ends = matches!(inp.peek(), Some(Token::Comma | Token::RightBrace));
                if !ends && !braced {
                    let comma = TokenSet::of(&[Token::Comma]);
                    return Err(self.fail(inp, Fault::unexpected(at, comma)));
                }
                Block {
                    span: stmt.span,
                    stmts: vec![stmt],
                }
            };
            let span = self.span(from, here(inp));
            Ok(Arm {
                patterns,
                body,
                span,
            })
        })
        .boxed()
    }

    /// `integrate rk4(DT) { … }`
    fn integrate(self, expr: Rule<'a, Expr>, block: Rule<'a, Block>) -> Rule<'a, StmtKind> {
        let dt = expr.delimited_by(self.token(Token::LeftParen), self.token(Token::RightParen));
        self.token(Token::Integrate)
            .ignore_then(self.header(self.name().then(dt).boxed()))
            .then(block)
            .map(|(header, body)| match header {
                Some((method, dt)) => StmtKind::Integrate { method, dt, body },
                None => StmtKind::Error,
            })
            .boxed()
    }

    /// `return e`, `break`, `continue`, `stop`
    fn word(self, expr: Rule<'a, Expr>) -> Rule<'a, StmtKind> {
        custom(move |inp: &mut Reader<'a, '_>| match inp.next() {
            Some(Token::Break) => Ok(StmtKind::Break),
            Some(Token::Continue) => Ok(StmtKind::Continue),
            Some(Token::Stop) => Ok(StmtKind::Stop),
            _ if inp.peek().is_some_and(|token| EXPRESSION.has(token)) => {
                inp.parse(&expr).map(|value| StmtKind::Return(Some(value)))
            }
            _ => Ok(StmtKind::Return(None)),
        })
        .boxed()
    }

    /// `assert c, "message"`
    fn assert(self, expr: Rule<'a, Expr>) -> Rule<'a, StmtKind> {
        let comma = self.token(Token::Comma);
        custom(move |inp: &mut Reader<'a, '_>| {
            inp.skip();
            let condition = inp.parse(&expr)?;
            let at = here(inp);
            let mark = self.script.marks.get(at);
            match inp.peek() {
                Some(Token::Text) => {
                    let end = self.place(at.saturating_sub(1)).end as usize;
                    let end = Span::new(end, end);
                    let diagnostic = say::missing_comma(self.text(at), self.place(at), end);
                    return Err(self.fail(inp, Fault::said(at, diagnostic)));
                }
                Some(next) if next.closes() || next == Token::Semicolon => {
                    return Err(self.missing_message(inp, at));
                }
                Some(Token::Comma) => {}
                _ if mark.is_none_or(|mark| mark.first) => {
                    return Err(self.missing_message(inp, at));
                }
                _ => {}
            }
            inp.parse(&comma)?;
            let at = here(inp);
            match inp.peek() {
                Some(Token::Text) => inp.skip(),
                Some(Token::Hole) => {
                    inp.skip();
                    return Ok(StmtKind::Error);
                }
                _ => return Err(self.missing_message(inp, at)),
            }
            let message = content(self.text(at));
            Ok(StmtKind::Assert { condition, message })
        })
        .boxed()
    }

    /// The fault of an `assert` that ends before its message.
    fn missing_message(self, inp: &mut Reader<'a, '_>, at: usize) -> Fault {
        let last = at.saturating_sub(1);
        let comma = self.script.tokens.get(last) == Some(&Token::Comma);
        let diagnostic = say::missing_message(comma, self.place(last));
        self.fail(inp, Fault::said(at, diagnostic))
    }
}
