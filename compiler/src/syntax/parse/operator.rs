//! Operands and operators to a tree, by binding power (operator precedence as Pratt has it, but over a
//! list: no chain of operators, however long, takes stack).
//!
//! From loose to tight: `||`, `&&`, comparisons (which do not chain), `|`, `^`, `&`, shifts, `+ -`,
//! `* / %`, unary `- ! ~`, and `**`, which groups to the right and binds tighter than a unary operator on
//! its left: `-x ** 2` is `-(x ** 2)`, `2 ** -x` is `2 ** (-x)`.

use super::{Grammar, fault::Fault};
use crate::{
    diagnostic::catalog::syntax as say,
    span::Span,
    syntax::{
        ast::{BinaryOp, Expr, ExprKind, MAX_DEPTH, UnaryOp},
        token::{Token, TokenSet},
    },
};

/// An operand with the operators before it.
pub(super) struct Term {
    /// In source order, each with the index of its token.
    pub(super) prefixes: Vec<(UnaryOp, usize)>,
    /// The operand.
    pub(super) base: Expr,
}

/// An operator between two terms, with the index of its token.
pub(super) type Infix = (BinaryOp, usize);

pub(in crate::syntax) const PREFIXES: TokenSet =
    TokenSet::of(&[Token::Minus, Token::Not, Token::Tilde]);

/// The operator before an operand that a token means.
pub(super) fn unary(token: Token) -> UnaryOp {
    match token {
        Token::Not => UnaryOp::Not,
        Token::Tilde => UnaryOp::Complement,
        _ => UnaryOp::Negate,
    }
}

const INFIXES: [(Token, BinaryOp); 19] = [
    (Token::Plus, BinaryOp::Add),
    (Token::Minus, BinaryOp::Subtract),
    (Token::Star, BinaryOp::Multiply),
    (Token::Slash, BinaryOp::Divide),
    (Token::Percent, BinaryOp::Remainder),
    (Token::StarStar, BinaryOp::Power),
    (Token::Equal, BinaryOp::Equal),
    (Token::NotEqual, BinaryOp::NotEqual),
    (Token::Less, BinaryOp::Less),
    (Token::LessEqual, BinaryOp::LessEqual),
    (Token::Greater, BinaryOp::Greater),
    (Token::GreaterEqual, BinaryOp::GreaterEqual),
    (Token::AndAnd, BinaryOp::And),
    (Token::OrOr, BinaryOp::Or),
    (Token::And, BinaryOp::BitAnd),
    (Token::Or, BinaryOp::BitOr),
    (Token::Caret, BinaryOp::BitXor),
    (Token::ShiftLeft, BinaryOp::ShiftLeft),
    (Token::ShiftRight, BinaryOp::ShiftRight),
];

/// The tokens that stand between operands.
pub(in crate::syntax) const INFIX: TokenSet = {
    let mut set = TokenSet::of(&[]);
    let mut index = 0;
    while index < INFIXES.len() {
        set = set.or(TokenSet::of(&[INFIXES[index].0]));
        index += 1;
    }
    set
};

/// The operator between operands that a token means.
pub(super) fn binary(token: Token) -> BinaryOp {
    let row = INFIXES.iter().find(|(written, _)| *written == token);
    row.map_or(BinaryOp::Add, |(_, op)| *op)
}

/// How tightly an operator binds.
fn power(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 1,
        BinaryOp::And => 2,
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual => COMPARISON,
        BinaryOp::BitOr => 4,
        BinaryOp::BitXor => 5,
        BinaryOp::BitAnd => 6,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => 7,
        BinaryOp::Add | BinaryOp::Subtract => 8,
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => 9,
        BinaryOp::Power => 10,
    }
}

const COMPARISON: u8 = 3;

/// Builds nodes, none deeper than `MAX_DEPTH`, and keeps the first complaint of each kind.
pub(super) struct Builder<'a> {
    grammar: Grammar<'a>,
    /// The index of the token at which the expression began.
    from: usize,
    too_deep: Option<Fault>,
    chained: Option<Fault>,
}

impl<'a> Builder<'a> {
    /// For the expression that begins at this token.
    pub(super) fn new(grammar: Grammar<'a>, from: usize) -> Self {
        Builder {
            grammar,
            from,
            too_deep: None,
            chained: None,
        }
    }

    /// What was wrong.
    pub(super) fn faults(self) -> impl Iterator<Item = Fault> {
        self.too_deep.into_iter().chain(self.chained)
    }

    /// A node over children of which the deepest has this depth.
    pub(super) fn node(&mut self, kind: ExprKind, span: Span, below: u32) -> Expr {
        if below < MAX_DEPTH {
            let depth = below + 1;
            return Expr { kind, span, depth };
        }
        let from = self.from;
        self.too_deep
            .get_or_insert_with(|| Fault::said(from, say::expression_too_deep(MAX_DEPTH, span)));
        // The subtree goes here, so that no tree ever gets deep enough for its drop to matter.
        hole(span)
    }

    fn prefixed(&mut self, mut operand: Expr, prefixes: Vec<(UnaryOp, usize)>) -> Expr {
        for (op, at) in prefixes.into_iter().rev() {
            let span = self.grammar.place(at).to(operand.span);
            let below = operand.depth;
            operand = self.node(ExprKind::Unary(op, Box::new(operand)), span, below);
        }
        operand
    }

    fn joined(&mut self, op: BinaryOp, left: Expr, right: Expr) -> Expr {
        let span = left.span.to(right.span);
        let below = left.depth.max(right.depth);
        let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
        self.node(kind, span, below)
    }

    /// The tree of `first` and what follows it.
    pub(super) fn fold(&mut self, first: Term, rest: Vec<(Infix, Term)>) -> Expr {
        let mut rest = rest.into_iter().peekable();
        let mut operands = vec![];
        let mut operators: Vec<Infix> = Vec::new();
        let mut run = vec![first];
        loop {
            while let Some((_, term)) = rest.next_if(|((op, _), _)| *op == BinaryOp::Power) {
                run.push(term);
            }
            operands.push(self.powers(&mut run));
            let Some(((op, at), term)) = rest.next() else {
                break;
            };
            self.reduce(&mut operands, &mut operators, power(op) + 1);
            self.check_chain(operators.last().copied(), (op, at), operands.last());
            self.reduce(&mut operands, &mut operators, power(op));
            operators.push((op, at));
            run.push(term);
        }
        self.reduce(&mut operands, &mut operators, 0);
        operands.pop().unwrap_or_else(|| hole(Span::default()))
    }

    /// `a ** b ** c` from the right, each with the operators before it around all to its right.
    fn powers(&mut self, run: &mut Vec<Term>) -> Expr {
        let mut right: Option<Expr> = None;
        while let Some(term) = run.pop() {
            let whole = match right.take() {
                Some(exponent) => self.joined(BinaryOp::Power, term.base, exponent),
                None => term.base,
            };
            right = Some(self.prefixed(whole, term.prefixes));
        }
        right.unwrap_or_else(|| hole(Span::default()))
    }

    /// `a < b < c` has no meaning that all readers share.
    fn check_chain(&mut self, waiting: Option<Infix>, next: Infix, middle: Option<&Expr>) {
        let comparison = |(op, _): &Infix| power(*op) == COMPARISON;
        if let Some(first) = waiting.filter(comparison)
            && comparison(&next)
            && self.chained.is_none()
        {
            let place = |(_, at): Infix| self.grammar.place(at);
            let middle = middle.and_then(|middle| {
                let text = self.grammar.script.source.get(middle.span.range());
                text.filter(|text| text.len() < 80)
            });
            let diagnostic = say::chained_comparison(place(first), place(next), middle);
            self.chained = Some(Fault::said(next.1, diagnostic));
        }
    }

    /// Joins what the waiting operators of at least this power hold together.
    fn reduce(&mut self, operands: &mut Vec<Expr>, operators: &mut Vec<Infix>, least: u8) {
        while let Some((op, _)) = operators.pop_if(|(op, _)| power(*op) >= least) {
            let right = operands.pop();
            let left = operands.pop();
            if let (Some(left), Some(right)) = (left, right) {
                operands.push(self.joined(op, left, right));
            }
        }
    }
}

/// An expression that could not be read.
pub(in crate::syntax) fn hole(span: Span) -> Expr {
    Expr {
        kind: ExprKind::Error,
        span,
        depth: 1,
    }
}
