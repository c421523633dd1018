//! Expressions.

use super::super::lex::Token;
use super::super::tree::{Comprehension, Expr};
use super::{Outcome, Parser};

/// The rows of the table of operators, from loose to tight.
const ROWS: [&[&str]; 9] = [
    &["||"],
    &["&&"],
    &["==", "!=", "<", "<=", ">", ">="],
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

const COMPARISONS: usize = 2;

impl Parser {
    pub(super) fn expr(&mut self) -> Outcome<Expr> {
        self.row(0)
    }

    fn row(&mut self, row: usize) -> Outcome<Expr> {
        let Some(operators) = ROWS.get(row) else {
            return self.prefixed();
        };
        let mut left = self.row(row + 1)?;
        let mut count = 0;
        while let Some(operator) = self.operator(operators) {
            count += 1;
            if row == COMPARISONS && count > 1 {
                return Err("comparisons do not chain".into());
            }
            let right = self.row(row + 1)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn operator(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        let found = operators
            .iter()
            .find(|operator| self.sees(operator))
            .copied();
        if found.is_some() {
            self.next();
        }
        found
    }

    /// `-x ** 2` is `-(x ** 2)`, and the exponent may have a sign.
    fn prefixed(&mut self) -> Outcome<Expr> {
        if let Some(operator) = self.operator(&["-", "!", "~"]) {
            return Ok(Expr::Unary(operator, Box::new(self.prefixed()?)));
        }
        let base = self.postfixed()?;
        match self.take("**") {
            true => Ok(Expr::Binary(
                "**",
                Box::new(base),
                Box::new(self.prefixed()?),
            )),
            false => Ok(base),
        }
    }

    /// A value without infix operators, for patterns.
    pub(super) fn term(&mut self) -> Outcome<Expr> {
        match self.operator(&["-", "!", "~"]) {
            Some(operator) => Ok(Expr::Unary(operator, Box::new(self.term()?))),
            None => self.postfixed(),
        }
    }

    fn postfixed(&mut self) -> Outcome<Expr> {
        let mut value = self.operand()?;
        loop {
            if self.take("[") {
                let index = self.expr()?;
                self.expect("]")?;
                value = Expr::Index(Box::new(value), Box::new(index));
            } else if self.take(".") {
                value = Expr::Field(Box::new(value), self.name()?);
            } else {
                return Ok(value);
            }
        }
    }

    fn operand(&mut self) -> Outcome<Expr> {
        match self.peek().clone() {
            Token::Whole(value) => self.literal(Expr::Whole(value)),
            Token::Unsigned(value) => self.literal(Expr::Unsigned(value)),
            Token::Real(value) => self.literal(Expr::Real(value)),
            Token::Mark("(") => {
                self.next();
                let value = self.expr()?;
                self.expect(")")?;
                Ok(value)
            }
            Token::Mark("[") => self.array(),
            Token::Word(word) => self.word(word),
            Token::Mark(_) | Token::Text(_) | Token::End => self.wrong("a value"),
        }
    }

    fn literal(&mut self, value: Expr) -> Outcome<Expr> {
        self.next();
        Ok(value)
    }

    fn word(&mut self, word: String) -> Outcome<Expr> {
        self.next();
        match word.as_str() {
            "true" => return Ok(Expr::Truth(true)),
            "false" => return Ok(Expr::Truth(false)),
            "world" => return Ok(Expr::World),
            "if" => return self.choice(),
            "bitcast" => {
                self.expect("<")?;
                let ty = self.ty()?;
                self.expect(">")?;
                self.expect("(")?;
                let value = self.expr()?;
                self.expect(")")?;
                return Ok(Expr::Bitcast(ty, Box::new(value)));
            }
            _ => {}
        }
        if !self.take("(") {
            return Ok(Expr::Name(word));
        }
        if self.sees("for") {
            let comprehension = self.comprehension()?;
            self.take(",");
            self.expect(")")?;
            return Ok(Expr::Fold(word, Box::new(comprehension)));
        }
        Ok(Expr::Call(word, self.list(")", Self::expr)?))
    }

    fn choice(&mut self) -> Outcome<Expr> {
        let condition = self.expr()?;
        self.expect("{")?;
        let yes = self.expr()?;
        self.expect("}")?;
        self.expect("else")?;
        let no = if self.take("if") {
            self.choice()?
        } else {
            self.expect("{")?;
            let no = self.expr()?;
            self.expect("}")?;
            no
        };
        Ok(Expr::If(Box::new([condition, yes, no])))
    }

    fn array(&mut self) -> Outcome<Expr> {
        self.expect("[")?;
        if self.sees("for") {
            let comprehension = self.comprehension()?;
            self.expect("]")?;
            return Ok(Expr::Comprehension(Box::new(comprehension)));
        }
        let first = self.expr()?;
        if self.take(";") {
            let length = self.expr()?;
            self.expect("]")?;
            return Ok(Expr::Repeat(Box::new(first), Box::new(length)));
        }
        let mut elements = vec![first];
        if self.take(",") {
            elements.extend(self.list("]", Self::expr)?);
        } else {
            self.expect("]")?;
        }
        Ok(Expr::List(elements))
    }

    fn comprehension(&mut self) -> Outcome<Comprehension> {
        self.expect("for")?;
        let name = self.name()?;
        self.expect("in")?;
        let over = self.over()?;
        let filter = match self.take("if") {
            true => Some(self.expr()?),
            false => None,
        };
        self.expect(":")?;
        Ok(Comprehension {
            name,
            over,
            filter,
            body: self.expr()?,
        })
    }
}
