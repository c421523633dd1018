//! Expressions: operands, what follows them, and the list of operators that `operator` folds.

use super::{
    EXPRESSION, Extra, Grammar, NAMES, Reader, Rule, Tokens,
    fault::Fault,
    here,
    operator::{self, Builder, INFIX, PREFIXES, Term},
};
use crate::{
    diagnostic::catalog::syntax as say,
    syntax::{
        MAX_NESTING,
        ast::{Comprehension, Domain, Expr, ExprKind, Name, Range, Type},
        lex::number,
        token::{Token, TokenSet},
    },
};
use chumsky::prelude::*;

/// What stands between the brackets of a call.
enum Arguments {
    List(Vec<Expr>),
    Fold(Box<Comprehension>),
}

/// What can follow an operand.
enum Suffix {
    Index(Expr),
    Field(Name),
}

impl<'a> Grammar<'a> {
    /// An expression.
    pub(super) fn expr(self) -> Rule<'a, Expr> {
        // Not `Recursive::declare`, whose parser would own itself and never be freed.
        recursive(|expr| self.chain(expr.boxed())).boxed()
    }

    /// Terms with operators between them.
    fn chain(self, expr: Rule<'a, Expr>) -> Rule<'a, Expr> {
        let operand = self.operand(expr.clone(), self.ty(expr.clone()));
        let term = self.term(operand, expr);
        let infix = self
            .one(INFIX)
            .map_with(|token, extra| (operator::binary(token), start(extra.span())));
        term.clone()
            .then(infix.then(term).repeated().collect::<Vec<_>>())
            .validate(move |(first, rest), extra, emitter| {
                if rest.is_empty() && first.prefixes.is_empty() {
                    return first.base;
                }
                let mut builder = Builder::new(self, start(extra.span()));
                let expr = builder.fold(first, rest);
                builder.faults().for_each(|fault| emitter.emit(fault));
                expr
            })
            .boxed()
    }

    /// What an arm of a `match` compares with: one term, since `|` stands between patterns.
    pub(super) fn pattern(self, expr: Rule<'a, Expr>) -> Rule<'a, Expr> {
        let operand = self.operand(expr.clone(), self.ty(expr.clone()));
        self.term(operand, expr)
            .validate(move |term, extra, emitter| {
                let mut builder = Builder::new(self, start(extra.span()));
                let value = builder.fold(term, Vec::new());
                builder.faults().for_each(|fault| emitter.emit(fault));
                value
            })
            .boxed()
    }

    /// `-!x.y[0]`: the operators before an operand, the operand, and what follows it.
    fn term(self, operand: Rule<'a, Expr>, expr: Rule<'a, Expr>) -> Rule<'a, Term> {
        let index = expr
            .delimited_by(
                self.token(Token::LeftBracket),
                self.token(Token::RightBracket),
            )
            .map(Suffix::Index);
        let field = self
            .token(Token::Dot)
            .ignore_then(self.name())
            .map(Suffix::Field);
        let suffix = choice((index, field)).map_with(|suffix, extra| {
            let tokens: SimpleSpan = extra.span();
            (suffix, tokens.end)
        });
        let postfix = operand
            .then(suffix.repeated().collect::<Vec<_>>())
            .validate(move |(base, suffixes), extra, emitter| {
                if suffixes.is_empty() {
                    return base;
                }
                let from = start(extra.span());
                let mut builder = Builder::new(self, from);
                let whole = suffixes.into_iter().fold(base, |base, (suffix, to)| {
                    let below = base.depth;
                    let span = self.span(from, to);
                    match suffix {
                        Suffix::Index(index) => {
                            let below = below.max(index.depth);
                            let kind = ExprKind::Index(Box::new(base), Box::new(index));
                            builder.node(kind, span, below)
                        }
                        Suffix::Field(name) => {
                            builder.node(ExprKind::Field(Box::new(base), name), span, below)
                        }
                    }
                });
                builder.faults().for_each(|fault| emitter.emit(fault));
                whole
            });
        self.one(PREFIXES)
            .map_with(|token, extra| (operator::unary(token), start(extra.span())))
            .repeated()
            .collect()
            .then(postfix)
            .map(|(prefixes, base)| Term { prefixes, base })
            .boxed()
    }

    /// A literal, a name, a call, or what stands between brackets.
    fn operand(self, expr: Rule<'a, Expr>, ty: Rule<'a, Type>) -> Rule<'a, Expr> {
        let paren = expr
            .clone()
            .delimited_by(self.token(Token::LeftParen), self.token(Token::RightParen))
            .map(|inner| {
                let below = inner.depth;
                (ExprKind::Paren(Box::new(inner)), below)
            });
        let paren = self.built(paren);
        let array = self.built(self.array(expr.clone()));
        let branches = self.built(self.if_value(expr.clone()));
        let bitcast = self.built(self.bitcast(expr.clone(), ty));
        let call = self.built(self.call(expr));
        let leaf = self.built(self.leaf());
        custom(move |inp: &mut Reader<'a, '_>| {
            let at = here(inp);
            match inp.peek() {
                Some(Token::LeftParen) => inp.parse(&paren),
                Some(Token::LeftBracket) => inp.parse(&array),
                Some(Token::If) => {
                    let ifs = &self.script.ifs;
                    if ifs.get() == MAX_NESTING {
                        let diagnostic = say::nested_if_values(MAX_NESTING, self.place(at));
                        return Err(Fault::said(at, diagnostic));
                    }
                    ifs.set(ifs.get() + 1);
                    let value = inp.parse(&branches);
                    ifs.set(ifs.get() - 1);
                    value
                }
                Some(Token::Bitcast) => inp.parse(&bitcast),
                // Of agents, `var` is the variance.
                Some(Token::Var) if self.script.tokens.get(at + 1) == Some(&Token::LeftParen) => {
                    inp.parse(&call)
                }
                Some(token) if NAMES.has(token) => {
                    if self.script.tokens.get(at + 1) == Some(&Token::LeftParen) {
                        inp.parse(&call)
                    } else {
                        inp.parse(&leaf)
                    }
                }
                _ => inp.parse(&leaf),
            }
        })
        .boxed()
    }

    /// Makes the node of a rule that yields its kind and the depth below it.
    fn built(
        self,
        rule: impl Parser<'a, Tokens<'a>, (ExprKind, u32), Extra> + 'a,
    ) -> Rule<'a, Expr> {
        rule.validate(move |(kind, below), extra, emitter| {
            let tokens: SimpleSpan = extra.span();
            let mut builder = Builder::new(self, tokens.start);
            let expr = builder.node(kind, self.span(tokens.start, tokens.end), below);
            builder.faults().for_each(|fault| emitter.emit(fault));
            expr
        })
        .boxed()
    }

    fn leaf(self) -> Rule<'a, (ExprKind, u32)> {
        custom(move |inp: &mut Reader<'a, '_>| {
            let at = here(inp);
            let text = || self.text(at);
            let kind = match inp.peek() {
                Some(Token::Int) => ExprKind::Int(number::integer(text())),
                Some(Token::Uint) => ExprKind::Uint(number::integer(text())),
                Some(Token::Float) => ExprKind::Float(number::float(text())),
                Some(Token::True) => ExprKind::Bool(true),
                Some(Token::False) => ExprKind::Bool(false),
                Some(Token::Hole) => ExprKind::Error,
                Some(token) if NAMES.has(token) => match self.foreign_operand(at) {
                    Some(fault) => return Err(fault),
                    None => ExprKind::Name(text().to_owned()),
                },
                _ => return Err(Fault::unexpected(at, EXPRESSION)),
            };
            inp.skip();
            Ok((kind, 0))
        })
        .boxed()
    }

    /// `not x` and `vec3<f32>(x)`, which would read as a statement and as comparisons.
    fn foreign_operand(self, at: usize) -> Option<Fault> {
        let next = |ahead: usize| self.script.tokens.get(at + ahead).copied();
        let text = self.text(at);
        let operand = TokenSet::of(&[Token::Ident, Token::True, Token::False, Token::Not]);
        if text == "not" && next(1).is_some_and(|token| operand.has(token)) {
            let same_line = self
                .script
                .marks
                .get(at + 1)
                .is_some_and(|mark| !mark.first);
            let said = || Fault::said(at, say::word_operator(text, "!", self.place(at)));
            return same_line.then(said);
        }
        let generic = matches!(text, "vec2" | "vec3" | "vec4" | "array");
        let scalar = || matches!(self.text(at + 2), "f32" | "i32" | "u32" | "bool");
        (generic && next(1) == Some(Token::Less) && scalar())
            .then(|| Fault::unexpected(at, EXPRESSION))
    }

    /// `[a, b]`, `[v; N]`, `[for i in a..b: e]`
    fn array(self, expr: Rule<'a, Expr>) -> Rule<'a, (ExprKind, u32)> {
        let comprehension = self.comprehension(expr.clone()).map(|over| {
            let below = comprehension_depth(&over);
            (ExprKind::Comprehension(Box::new(over)), below)
        });
        let comma = self.token(Token::Comma);
        let repeat = self.token(Token::Semicolon).ignore_then(expr.clone());
        let more = comma
            .clone()
            .ignore_then(expr.clone().separated_by(comma).allow_trailing().collect());
        let elements = expr
            .then(choice((
                repeat.map(Err),
                more.or_not()
                    .map(|more: Option<Vec<Expr>>| Ok(more.unwrap_or_default())),
            )))
            .map(|(first, rest)| match rest {
                Err(length) => {
                    let below = first.depth.max(length.depth);
                    let kind = ExprKind::Repeat(Box::new(first), Box::new(length));
                    (kind, below)
                }
                Ok(mut rest) => {
                    rest.insert(0, first);
                    let below = deepest(&rest);
                    (ExprKind::Array(rest), below)
                }
            });
        choice((comprehension, elements))
            .or_not()
            .map(|inside| inside.unwrap_or((ExprKind::Array(Vec::new()), 0)))
            .delimited_by(
                self.token(Token::LeftBracket),
                self.token(Token::RightBracket),
            )
            .boxed()
    }

    /// `for i in a..b if c: e`
    fn comprehension(self, expr: Rule<'a, Expr>) -> Rule<'a, Comprehension> {
        self.token(Token::For)
            .ignore_then(self.index(expr.clone()))
            .then(self.after(Token::If, expr.clone()))
            .then_ignore(self.token(Token::Colon))
            .then(expr)
            .map(|(((index, domain), filter), value)| Comprehension {
                index,
                domain,
                filter,
                value,
            })
            .boxed()
    }

    /// `i in a..b`, `other in world`
    pub(super) fn index(self, expr: Rule<'a, Expr>) -> Rule<'a, (Name, Domain)> {
        self.name()
            .then_ignore(self.token(Token::In))
            .then(self.domain(expr))
            .boxed()
    }

    /// `a..b`, which may begin with `world[k].x`, or `world`. (The checker complains of `world..b`.)
    fn domain(self, expr: Rule<'a, Expr>) -> Rule<'a, Domain> {
        let range = self.range(expr).boxed();
        custom(move |inp: &mut Reader<'a, '_>| {
            let at = here(inp);
            let part = TokenSet::of(&[Token::LeftBracket, Token::Dot, Token::DotDot]);
            let next = self.script.tokens.get(at + 1);
            let alone = next.is_none_or(|next| !part.has(*next));
            if inp.peek() == Some(Token::World) && alone {
                inp.skip();
                return Ok(Domain::World(self.place(at)));
            }
            inp.parse(&range).map(Domain::Range)
        })
        .boxed()
    }

    /// `a..b`
    pub(super) fn range(self, expr: Rule<'a, Expr>) -> Rule<'a, Range> {
        expr.clone()
            .then_ignore(self.token(Token::DotDot))
            .then(expr)
            .map(|(start, end)| Range { start, end })
            .boxed()
    }

    /// `if c { a } else if d { b } else { e }`
    fn if_value(self, expr: Rule<'a, Expr>) -> Rule<'a, (ExprKind, u32)> {
        let value = expr
            .clone()
            .delimited_by(self.token(Token::LeftBrace), self.token(Token::RightBrace));
        let branch = self.token(Token::If).ignore_then(expr).then(value.clone());
        let rest = self
            .token(Token::Else)
            .ignore_then(branch.clone())
            .repeated()
            .collect::<Vec<_>>();
        branch
            .then(rest)
            .then_ignore(self.token(Token::Else))
            .then(value)
            .map(|((first, mut branches), otherwise)| {
                branches.insert(0, first);
                let depth = |(c, v): &(Expr, Expr)| c.depth.max(v.depth);
                let below = branches.iter().map(depth).max().unwrap_or_default();
                let below = below.max(otherwise.depth);
                let otherwise = Box::new(otherwise);
                let kind = ExprKind::If {
                    branches,
                    otherwise,
                };
                (kind, below)
            })
            .boxed()
    }

    /// `f(a, b)` and `f(for i in a..b: e)`; `var(x)` is one, too
    fn call(self, expr: Rule<'a, Expr>) -> Rule<'a, (ExprKind, u32)> {
        let callee = self
            .one(NAMES.or(TokenSet::of(&[Token::Var])))
            .map_with(move |_, extra| self.name_at(start(extra.span())));
        let list = expr
            .clone()
            .separated_by(self.token(Token::Comma))
            .allow_trailing()
            .collect()
            .map(Arguments::List);
        let fold = self.comprehension(expr).map(Box::new).map(Arguments::Fold);
        callee
            .then(
                choice((fold, list))
                    .delimited_by(self.token(Token::LeftParen), self.token(Token::RightParen)),
            )
            .map(|(callee, arguments)| match arguments {
                Arguments::List(args) => {
                    let below = deepest(&args);
                    (ExprKind::Call { callee, args }, below)
                }
                Arguments::Fold(over) => {
                    let below = comprehension_depth(&over);
                    (ExprKind::Fold { callee, over }, below)
                }
            })
            .boxed()
    }

    /// `bitcast<u32>(x)`
    fn bitcast(self, expr: Rule<'a, Expr>, ty: Rule<'a, Type>) -> Rule<'a, (ExprKind, u32)> {
        self.token(Token::Bitcast)
            .ignore_then(ty.delimited_by(self.token(Token::Less), self.token(Token::Greater)))
            .then(expr.delimited_by(self.token(Token::LeftParen), self.token(Token::RightParen)))
            .map(|(to, value)| {
                let below = value.depth;
                let value = Box::new(value);
                (ExprKind::Bitcast { to, value }, below)
            })
            .boxed()
    }
}

fn start(tokens: SimpleSpan) -> usize {
    tokens.start
}

fn deepest(exprs: &[Expr]) -> u32 {
    exprs.iter().map(|expr| expr.depth).max().unwrap_or(0)
}

fn comprehension_depth(over: &Comprehension) -> u32 {
    let filter = over.filter.as_ref().map_or(0, |filter| filter.depth);
    let domain = match &over.domain {
        Domain::Range(range) => range.start.depth.max(range.end.depth),
        Domain::World(_) => 0,
    };
    domain.max(filter).max(over.value.depth)
}
