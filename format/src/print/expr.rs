//! Expressions.

use super::{Printer, Space};
use sim_compiler::syntax::{
    Token,
    ast::{BinaryOp, Comprehension, Domain, Expr, ExprKind, Range},
};

/// Elements up to this width share lines in a long array.
const SHORT: u32 = 10;

/// Operators that share a chain: what breaks, breaks before each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Or,
    And,
    Comparison,
    BitOr,
    BitXor,
    BitAnd,
    Shift,
    Sum,
    Product,
    Power,
}

fn level(op: BinaryOp) -> Level {
    match op {
        BinaryOp::Or => Level::Or,
        BinaryOp::And => Level::And,
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual => Level::Comparison,
        BinaryOp::BitOr => Level::BitOr,
        BinaryOp::BitXor => Level::BitXor,
        BinaryOp::BitAnd => Level::BitAnd,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => Level::Shift,
        BinaryOp::Add | BinaryOp::Subtract => Level::Sum,
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => Level::Product,
        BinaryOp::Power => Level::Power,
    }
}

/// The operands of a chain of operators of one level, in order; alone if it is none.
fn operands(expr: &Expr) -> Vec<&Expr> {
    let ExprKind::Binary(op, ..) = &expr.kind else {
        return vec![expr];
    };
    let chain = level(*op);
    let mut found = Vec::new();
    let mut rest = expr;
    while let ExprKind::Binary(op, left, right) = &rest.kind
        && level(*op) == chain
    {
        // `**` groups to the right, all others to the left.
        let (operand, next) = match chain {
            Level::Power => (left, right),
            _ => (right, left),
        };
        found.push(&**operand);
        rest = next;
    }
    found.push(rest);
    if chain != Level::Power {
        found.reverse();
    }
    found
}

impl<'a> Printer<'a> {
    /// What stands behind `=`, `~` or `return`: the operands of a chain stand under one another.
    pub(super) fn value(&mut self, value: &Expr) {
        // Behind a comment the value has lines of its own.
        if self.has_remark(self.at) {
            self.pending.extra = 0;
            self.nest(|p| p.expr(value));
        } else if let ExprKind::Binary(op, ..) = &value.kind {
            let less = op.text().len() + 1;
            self.group(|p| p.align(less, |p| p.bare(value)));
        } else {
            self.expr(value);
        }
    }

    /// An expression inside of another: where a chain breaks, its operators stand under its first operand.
    pub(super) fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Binary(..) => self.group(|p| p.align(0, |p| p.bare(expr))),
            _ => self.operand(expr),
        }
    }

    /// A chain that breaks with the group around it.
    pub(super) fn bare(&mut self, expr: &Expr) {
        for (index, operand) in operands(expr).into_iter().enumerate() {
            if index > 0 {
                self.space(Space::Line);
                self.word();
                self.one();
            }
            self.expr(operand);
        }
    }

    fn operand(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(_)
            | ExprKind::Uint(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Name(_) => self.word(),
            ExprKind::Paren(inner) => self.bracket(Space::Soft, |p| p.expr(inner)),
            ExprKind::Unary(_, operand) => {
                self.word();
                self.expr(operand);
            }
            ExprKind::Binary(..) => self.expr(expr),
            ExprKind::Call { args, .. } => {
                self.word();
                self.arguments(args);
            }
            ExprKind::Fold { over, .. } => {
                self.word();
                self.bracket(Space::Soft, |p| p.comprehension(over));
            }
            ExprKind::Bitcast { to, value } => {
                self.token(Token::Bitcast);
                self.token(Token::Less);
                self.ty(to);
                self.token(Token::Greater);
                self.bracket(Space::Soft, |p| p.expr(value));
            }
            ExprKind::Index(base, index) => {
                self.expr(base);
                self.bracket(Space::Soft, |p| p.expr(index));
            }
            ExprKind::Field(base, _) => {
                self.expr(base);
                self.token(Token::Dot);
                self.word();
            }
            ExprKind::Array(elements) => self.array(elements),
            ExprKind::Repeat(value, length) => self.bracket(Space::Soft, |p| {
                p.expr(value);
                p.token(Token::Semicolon);
                p.space(Space::Line);
                p.expr(length);
            }),
            ExprKind::Comprehension(over) => {
                self.bracket(Space::Soft, |p| p.comprehension(over));
            }
            ExprKind::If {
                branches,
                otherwise,
            } => self.choice(branches, otherwise),
            ExprKind::Error => self.lose("an expression"),
        }
    }

    /// What stands between the parentheses of a call, with them. A bracketed argument that is alone needs no
    /// indentation of its own.
    fn arguments(&mut self, args: &[Expr]) {
        let open = self.at;
        let close = self.script.partners.get(open).copied().unwrap_or(open);
        let alone = matches!(args, [arg] if is_bracketed(arg));
        if alone && !self.has_remark(open + 1) && !self.has_remark(close) {
            self.token(Token::LeftParen);
            self.expr(&args[0]);
            self.token(Token::RightParen);
        } else {
            self.bracket(Space::Soft, |p| p.list(args, Space::Line, Self::expr));
        }
    }

    /// Numbers and names fill their lines; of anything longer, each has a line.
    fn array(&mut self, elements: &[Expr]) {
        let between = if elements.iter().all(is_short) {
            Space::Fill
        } else {
            Space::Line
        };
        self.bracket(Space::Soft, |p| p.list(elements, between, Self::expr));
    }

    /// `for i in a..b if c: e`
    fn comprehension(&mut self, over: &Comprehension) {
        self.group(|p| {
            p.group(|p| {
                p.index(&over.domain);
                if let Some(filter) = &over.filter {
                    p.nest(|p| {
                        p.space(Space::Line);
                        p.token(Token::If);
                        p.one();
                        p.expr(filter);
                    });
                }
                p.token(Token::Colon);
            });
            if is_array(&over.value) {
                p.one();
                p.expr(&over.value);
            } else {
                p.nest(|p| {
                    p.space(Space::Line);
                    p.expr(&over.value);
                });
            }
        });
    }

    /// `for i in a..b`, `for other in world`
    pub(super) fn index(&mut self, domain: &Domain) {
        self.token(Token::For);
        self.one();
        self.token(Token::Ident);
        self.one();
        self.token(Token::In);
        self.one();
        match domain {
            Domain::Range(range) => self.range(range),
            Domain::World(_) => self.word(),
        }
    }

    /// `a..b`
    pub(super) fn range(&mut self, range: &Range) {
        self.expr(&range.start);
        self.token(Token::DotDot);
        self.expr(&range.end);
    }

    /// `if a { b } else { c }`
    fn choice(&mut self, branches: &[(Expr, Expr)], otherwise: &Expr) {
        self.group(|p| {
            for (index, (condition, value)) in branches.iter().enumerate() {
                if index > 0 {
                    p.otherwise();
                }
                p.token(Token::If);
                p.one();
                p.expr(condition);
                p.one_flush();
                p.branch(value);
            }
            p.otherwise();
            p.branch(otherwise);
        });
    }

    /// `{ e }`, which breaks with the other branches.
    fn branch(&mut self, value: &Expr) {
        self.within(Space::Line, |p| p.expr(value));
    }
}

/// Whether an expression has brackets of its own, in which it may break.
fn is_bracketed(expr: &Expr) -> bool {
    is_array(expr) || matches!(expr.kind, ExprKind::Call { .. } | ExprKind::Fold { .. })
}

fn is_array(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Array(_) | ExprKind::Repeat(..) | ExprKind::Comprehension(_)
    )
}

/// Whether an expression is a short number or name, or one with a sign.
fn is_short(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Unary(_, operand) => {
            !matches!(operand.kind, ExprKind::Unary(..)) && is_short(operand)
        }
        ExprKind::Int(_)
        | ExprKind::Uint(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Name(_) => expr.span.end - expr.span.start <= SHORT,
        _ => false,
    }
}
