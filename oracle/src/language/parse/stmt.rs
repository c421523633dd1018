//! Statements.

use super::super::tree::{Expr, Stmt};
use super::{Outcome, Parser};

impl Parser {
    pub(super) fn block(&mut self) -> Outcome<Vec<Stmt>> {
        self.expect("{")?;
        let mut statements = Vec::new();
        while !self.take("}") {
            if !self.take(";") {
                statements.push(self.stmt()?);
            }
        }
        Ok(statements)
    }

    fn stmt(&mut self) -> Outcome<Stmt> {
        if self.sees("{") {
            return Ok(Stmt::Block(self.block()?));
        }
        let start = self.place;
        let word = self.name()?;
        Ok(match word.as_str() {
            "let" | "var" => {
                let name = self.name()?;
                let ty = self.annotation()?;
                self.expect("=")?;
                let value = self.expr()?;
                match word == "let" {
                    true => Stmt::Let(name, ty, value),
                    false => Stmt::Var(name, ty, value),
                }
            }
            "if" => self.branches()?,
            "for" => {
                let name = self.name()?;
                self.expect("in")?;
                let over = self.over()?;
                Stmt::For(name, over, self.block()?)
            }
            "while" => {
                let condition = self.expr()?;
                self.expect("limit")?;
                let limit = self.expr()?;
                Stmt::While(condition, limit, self.block()?)
            }
            "match" => {
                let value = self.expr()?;
                Stmt::Match(value, self.arms()?)
            }
            "integrate" => {
                let method = self.name()?;
                self.expect("(")?;
                let step = self.expr()?;
                self.expect(")")?;
                Stmt::Integrate(method, step, self.block()?)
            }
            "return" => Stmt::Return(self.expr()?),
            "break" => Stmt::Break,
            "continue" => Stmt::Continue,
            "stop" => Stmt::Stop,
            "assert" => {
                let condition = self.expr()?;
                self.expect(",")?;
                Stmt::Assert(condition, self.text()?)
            }
            _ => {
                self.place = start;
                self.assignment()?
            }
        })
    }

    fn assignment(&mut self) -> Outcome<Stmt> {
        let place = self.expr()?;
        if self.take("'") {
            let Expr::Name(name) = place else {
                return self.wrong("a state");
            };
            self.expect("=")?;
            return Ok(Stmt::Equation(name, self.expr()?));
        }
        let forms = [
            ("+=", "+"),
            ("-=", "-"),
            ("*=", "*"),
            ("/=", "/"),
            ("%=", "%"),
            ("&=", "&"),
            ("|=", "|"),
            ("^=", "^"),
            ("<<=", "<<"),
            (">>=", ">>"),
        ];
        for (form, operator) in forms {
            if self.take(form) {
                return Ok(Stmt::Assign(place, Some(operator), self.expr()?));
            }
        }
        self.expect("=")?;
        Ok(Stmt::Assign(place, None, self.expr()?))
    }

    fn branches(&mut self) -> Outcome<Stmt> {
        let condition = self.expr()?;
        let yes = self.block()?;
        let no = match self.take("else") {
            true if self.take("if") => vec![self.branches()?],
            true => self.block()?,
            false => Vec::new(),
        };
        Ok(Stmt::If(condition, yes, no))
    }

    fn arms(&mut self) -> Outcome<Vec<(Vec<Expr>, Vec<Stmt>)>> {
        self.expect("{")?;
        let mut arms = Vec::new();
        while !self.take("}") {
            let mut patterns = Vec::new();
            if !self.take("_") {
                patterns.push(self.term()?);
                while self.take("|") {
                    patterns.push(self.term()?);
                }
            }
            self.expect("=>")?;
            let body = match self.sees("{") {
                true => self.block()?,
                false => vec![self.stmt()?],
            };
            self.take(",");
            arms.push((patterns, body));
        }
        Ok(arms)
    }
}
