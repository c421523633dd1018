//! Tokens to the tree: recursive descent, after docs/language.md, "Grammar".

mod expr;
mod stmt;

use super::lex::{Token, lex};
use super::tree::{Expr, Function, Model, Over, Phase, Sampled, Type, Value};

/// The tree of a text.
///
/// # Errors
/// The first mistake.
pub fn parse(text: &str) -> Result<Model, String> {
    let mut parser = Parser {
        tokens: lex(text)?,
        place: 0,
    };
    let mut model = Model::default();
    while *parser.peek() != Token::End {
        if !parser.take(";") {
            parser.item(&mut model)?;
        }
    }
    Ok(model)
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    place: usize,
}

type Outcome<T> = Result<T, String>;

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.place].0
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.place = (self.place + 1).min(self.tokens.len() - 1);
        token
    }

    fn wrong<T>(&self, wanted: &str) -> Outcome<T> {
        let (token, line) = &self.tokens[self.place];
        Err(format!("line {line}: {token:?} where {wanted} is due"))
    }

    fn sees(&self, text: &str) -> bool {
        match self.peek() {
            Token::Mark(mark) => *mark == text,
            Token::Word(word) => word == text,
            _ => false,
        }
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.sees(text);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Outcome<()> {
        match self.take(text) {
            true => Ok(()),
            false => self.wrong(text),
        }
    }

    fn name(&mut self) -> Outcome<String> {
        match self.next() {
            Token::Word(word) => Ok(word),
            _ => {
                self.place -= 1;
                self.wrong("a name")
            }
        }
    }

    /// What stands between commas up to a closing bracket.
    fn list<T>(
        &mut self,
        close: &str,
        mut one: impl FnMut(&mut Self) -> Outcome<T>,
    ) -> Outcome<Vec<T>> {
        let mut list = Vec::new();
        while !self.take(close) {
            list.push(one(self)?);
            if !self.take(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(list)
    }

    fn item(&mut self, model: &mut Model) -> Outcome<()> {
        let mut word = self.name()?;
        let lifted = ["input", "state", "output", "step", "observe"].iter();
        let world = word == "world" && lifted.into_iter().any(|next| self.sees(next));
        if world {
            word = self.name()?;
        }
        match word.as_str() {
            "world" => model.world = Some(self.expr()?),
            "agents" => model.agents = Some(self.expr()?),
            "steps" => model.steps = Some(self.expr()?),
            "const" => model.consts.push(self.value()?),
            "param" => {
                model.params.push(self.value()?);
                if self.take("in") {
                    self.range()?;
                }
            }
            "data" => model.data.push(self.value()?),
            "input" => model.inputs.push(self.lifted(world)?),
            "state" => model.states.push(self.lifted(world)?),
            "output" => model.outputs.push(self.lifted(world)?),
            "record" | "observe" => {
                let value = self.lifted(world)?;
                let every = match self.take("every") {
                    true => Some(self.expr()?),
                    false => None,
                };
                model.series.push(Sampled {
                    value,
                    record: word == "record",
                    every,
                });
            }
            "fn" => {
                let function = self.function()?;
                model.functions.push(function);
            }
            "struct" => {
                let name = self.name()?;
                self.expect("{")?;
                model.structs.push((name, self.list("}", Self::field)?));
            }
            "enum" => {
                let name = self.name()?;
                self.expect("{")?;
                model.enums.push((name, self.list("}", Self::name)?));
            }
            "init" => model.init.push(self.block()?),
            "finish" => model.finish.push(self.block()?),
            "step" => {
                let index = match self.sees("{") {
                    true => None,
                    false => Some(self.name()?),
                };
                let body = self.block()?;
                model.step.push(Phase { index, body, world });
            }
            "test" => self.test()?,
            _ => {
                self.place -= 1;
                return self.wrong("a declaration");
            }
        }
        Ok(())
    }

    /// A test, which changes nothing of the model: read, and left out.
    fn test(&mut self) -> Outcome<()> {
        self.text()?;
        self.expect("{")?;
        while !self.take("}") {
            if !self.take(";") {
                self.part_of_test()?;
            }
        }
        Ok(())
    }

    fn part_of_test(&mut self) -> Outcome<()> {
        let word = self.name()?;
        match word.as_str() {
            "agents" | "steps" | "world" | "seed" => {
                self.expr()?;
            }
            "param" | "data" | "input" => {
                self.name()?;
                if word != "param" && self.take("from") {
                    self.text()?;
                } else {
                    self.expect("=")?;
                    self.expr()?;
                }
            }
            "expect" => {
                self.expr()?;
                if self.take("~") {
                    self.expr()?;
                    self.expect("within")?;
                    self.term()?;
                    let _unit = self.take("%") || self.take("se");
                } else if self.take("in") {
                    self.range()?;
                }
            }
            _ => {
                self.place -= 1;
                return self.wrong("a part of a test");
            }
        }
        Ok(())
    }

    /// A declaration that `world` may stand before.
    fn lifted(&mut self, world: bool) -> Outcome<Value> {
        let value = self.value()?;
        Ok(Value { world, ..value })
    }

    fn value(&mut self) -> Outcome<Value> {
        let name = self.name()?;
        let ty = self.annotation()?;
        let drawn = self.take("~");
        let value = match drawn || self.take("=") {
            true => Some(self.expr()?),
            false => None,
        };
        Ok(Value {
            name,
            ty,
            value,
            drawn,
            world: false,
        })
    }

    fn annotation(&mut self) -> Outcome<Option<Type>> {
        match self.take(":") {
            true => self.ty().map(Some),
            false => Ok(None),
        }
    }

    fn field(&mut self) -> Outcome<(String, Type)> {
        let name = self.name()?;
        self.expect(":")?;
        Ok((name, self.ty()?))
    }

    fn function(&mut self) -> Outcome<Function> {
        let name = self.name()?;
        self.expect("(")?;
        let params = self.list(")", Self::field)?;
        self.expect("->")?;
        Ok(Function {
            name,
            params,
            result: self.ty()?,
            body: self.block()?,
        })
    }

    fn ty(&mut self) -> Outcome<Type> {
        if !self.take("[") {
            return Ok(Type::Name(self.name()?));
        }
        let element = Box::new(self.ty()?);
        let length = match self.take(";") {
            true => Some(Box::new(self.expr()?)),
            false => None,
        };
        self.expect("]")?;
        Ok(Type::Array(element, length))
    }

    /// `world` alone, or a range, which may begin with `world[k]` or `world.number`.
    fn over(&mut self) -> Outcome<Over> {
        let next = self.tokens.get(self.place + 1).map(|(token, _)| token);
        let begins_value = matches!(next, Some(Token::Mark("[" | ".")));
        if !begins_value && self.take("world") {
            return Ok(Over::World);
        }
        let (from, to) = self.range()?;
        Ok(Over::Range(from, to))
    }

    fn text(&mut self) -> Outcome<String> {
        let Token::Text(text) = &self.tokens[self.place].0 else {
            return self.wrong("a text");
        };
        let text = text.clone();
        self.place += 1;
        Ok(text)
    }

    fn range(&mut self) -> Outcome<(Expr, Expr)> {
        let from = self.expr()?;
        self.expect("..")?;
        Ok((from, self.expr()?))
    }
}
