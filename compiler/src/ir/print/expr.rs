//! Expression trees on one line.

use super::Printer;
use crate::ir::{BinaryOp, Expr, ExprId, Launch, Owner, UnaryOp, Value};

/// A piece of work of the printer: what a tree still needs written.
enum Piece {
    Text(String),
    /// An expression, in parentheses if it binds less tightly than this.
    Tree(ExprId, u8),
}

/// How tightly what needs no parentheses binds.
const TIGHT: u8 = 10;
/// How tightly a sign or `!` before an operand binds.
const PREFIX: u8 = 9;

impl Printer<'_> {
    /// The expression. By a list of pieces rather than by recursion, because a model may nest expressions
    /// deeper than the stack.
    pub(super) fn expr(&self, root: ExprId) -> String {
        let mut text = String::new();
        let mut waiting = vec![Piece::Tree(root, 0)];
        while let Some(piece) = waiting.pop() {
            match piece {
                Piece::Text(more) => text += &more,
                Piece::Tree(id, least) => {
                    let mut pieces = self.pieces(id);
                    if binding(&self.program[id]) < least {
                        pieces.insert(0, Piece::Text("(".to_owned()));
                        pieces.push(Piece::Text(")".to_owned()));
                    }
                    waiting.extend(pieces.into_iter().rev());
                }
            }
        }
        text
    }

    fn pieces(&self, id: ExprId) -> Vec<Piece> {
        let text = |text: &str| vec![Piece::Text(text.to_owned())];
        match &self.program[id] {
            Expr::Literal(value) => text(&literal(value)),
            Expr::Double(bits) => text(&double_literal(&Value::F32(f64::from_bits(*bits)))),
            Expr::Launch(number) => text(launch(*number)),
            Expr::Rows(var) => text(&format!("rows({})", self.name(*var))),
            Expr::Read(var) => text(self.name(*var)),
            Expr::Element { array, index } => element(self.name(*array), *index),
            Expr::Swizzle { vector, components } => {
                let letters: String = components.iter().map(|&c| letter(c)).collect();
                vec![
                    Piece::Tree(*vector, TIGHT),
                    Piece::Text(format!(".{letters}")),
                ]
            }
            Expr::Compose(parts) => call(&format!("vec{}", parts.len()), parts),
            Expr::Splat { ty, value } => call(ty.name(), &[*value]),
            Expr::Unary(op, operand) => {
                let sign = match op {
                    UnaryOp::Negate => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::Complement => "~",
                    UnaryOp::Fence => "fence ",
                    UnaryOp::Keep => "keep ",
                };
                vec![
                    Piece::Text(sign.to_owned()),
                    Piece::Tree(*operand, PREFIX + 1),
                ]
            }
            Expr::Binary(op, a, b) => {
                let (sign, level) = operator(*op);
                vec![
                    Piece::Tree(*a, level),
                    Piece::Text(format!(" {sign} ")),
                    Piece::Tree(*b, level + 1),
                ]
            }
            Expr::Select {
                condition,
                accept,
                reject,
            } => vec![
                Piece::Text("if ".to_owned()),
                Piece::Tree(*condition, 1),
                Piece::Text(" then ".to_owned()),
                Piece::Tree(*accept, 1),
                Piece::Text(" else ".to_owned()),
                Piece::Tree(*reject, 1),
            ],
            Expr::Convert { to, value } => call(to.name(), &[*value]),
            Expr::Bitcast { to, value } => call(&format!("bits_{}", to.name()), &[*value]),
            Expr::Builtin(id, args) => call(id.row().name, args),
            Expr::Call(id, args) => call(&format!("{}#{}", self.program[*id].name, id.0), args),
            Expr::RandomWord { owner, .. } => call(stream(*owner), &self.program[id].operands()),
            Expr::Other { var, index, member } => {
                let mut pieces = element("world", *member);
                pieces.push(Piece::Text(".".to_owned()));
                match index {
                    Some(index) => pieces.extend(element(self.name(*var), *index)),
                    None => pieces.push(Piece::Text(self.name(*var).to_owned())),
                }
                pieces
            }
            Expr::AcrossWorld { op, value } => call(&format!("world_{}", op.name()), &[*value]),
            Expr::AcrossLanes { op, value, .. } => call(&format!("lanes_{}", op.name()), &[*value]),
            Expr::Shuffle { value, lane, .. } => call("lanes_shuffle", &[*value, *lane]),
        }
    }
}

fn stream(owner: Owner) -> &'static str {
    match owner {
        Owner::Agent => "random_word",
        Owner::World => "world_word",
    }
}

fn launch(number: Launch) -> &'static str {
    match number {
        Launch::Agent => "agent",
        Launch::Agents => "agents",
        Launch::Steps => "steps",
        Launch::Step => "step",
        Launch::Member => "member",
        Launch::Members => "members",
        Launch::World => "world",
        Launch::Lane { .. } => "lane",
    }
}

fn element(array: &str, index: ExprId) -> Vec<Piece> {
    vec![
        Piece::Text(format!("{array}[")),
        Piece::Tree(index, 0),
        Piece::Text("]".to_owned()),
    ]
}

fn call(name: &str, args: &[ExprId]) -> Vec<Piece> {
    let mut pieces = vec![Piece::Text(format!("{name}("))];
    for (k, &arg) in args.iter().enumerate() {
        if k > 0 {
            pieces.push(Piece::Text(", ".to_owned()));
        }
        pieces.push(Piece::Tree(arg, 0));
    }
    pieces.push(Piece::Text(")".to_owned()));
    pieces
}

fn letter(component: u8) -> char {
    char::from(b"xyzw"[usize::from(component)])
}

/// How tightly the outermost operator binds.
fn binding(expr: &Expr) -> u8 {
    match expr {
        Expr::Select { .. } => 0,
        Expr::Binary(op, _, _) => operator(*op).1,
        Expr::Unary(..) => PREFIX,
        Expr::Literal(value) => match value {
            Value::F32(x) if x.is_sign_negative() => PREFIX,
            Value::I32(x) if *x < 0 => PREFIX,
            Value::F32(_)
            | Value::I32(_)
            | Value::U32(_)
            | Value::Bool(_)
            | Value::Vec2(_)
            | Value::Vec3(_)
            | Value::Vec4(_) => TIGHT,
        },
        Expr::Double(bits) if f64::from_bits(*bits).is_sign_negative() => PREFIX,
        Expr::Double(_)
        | Expr::Launch(_)
        | Expr::Rows(_)
        | Expr::Read(_)
        | Expr::Element { .. }
        | Expr::Swizzle { .. }
        | Expr::Compose(_)
        | Expr::Splat { .. }
        | Expr::Convert { .. }
        | Expr::Bitcast { .. }
        | Expr::Builtin(..)
        | Expr::Call(..)
        | Expr::RandomWord { .. }
        | Expr::AcrossLanes { .. }
        | Expr::Shuffle { .. }
        | Expr::AcrossWorld { .. }
        | Expr::Other { .. } => TIGHT,
    }
}

/// The sign of an operator and how tightly it binds, as in Rust.
fn operator(op: BinaryOp) -> (&'static str, u8) {
    match op {
        BinaryOp::Or => ("||", 1),
        BinaryOp::And => ("&&", 2),
        BinaryOp::Equal => ("==", 3),
        BinaryOp::NotEqual => ("!=", 3),
        BinaryOp::Less => ("<", 3),
        BinaryOp::LessEqual => ("<=", 3),
        BinaryOp::Greater => (">", 3),
        BinaryOp::GreaterEqual => (">=", 3),
        BinaryOp::BitOr => ("|", 4),
        BinaryOp::BitXor => ("^", 5),
        BinaryOp::BitAnd => ("&", 6),
        BinaryOp::ShiftLeft => ("<<", 7),
        BinaryOp::ShiftRight => (">>", 7),
        BinaryOp::Add => ("+", 8),
        BinaryOp::Subtract => ("-", 8),
        BinaryOp::Multiply => ("*", 9),
        BinaryOp::Divide => ("/", 9),
        BinaryOp::Remainder => ("%", 9),
    }
}

/// A constant of any precision.
pub(super) fn double_literal(value: &Value<f64>) -> String {
    match value.exact_single() {
        Some(single) => literal(&single),
        None => {
            let parts: Vec<String> = value.floats().iter().map(|x| format!("{x:?}")).collect();
            match parts.as_slice() {
                [one] => one.clone(),
                all => format!("{}({})", value.ty().name(), all.join(", ")),
            }
        }
    }
}

/// A constant; a float always has a point, and as many digits as bring it back.
pub(super) fn literal(value: &Value) -> String {
    match value {
        Value::F32(x) => format!("{x:?}"),
        Value::I32(x) => x.to_string(),
        Value::U32(x) => format!("{x}u"),
        Value::Bool(x) => x.to_string(),
        Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_) => {
            let parts: Vec<String> = value.floats().iter().map(|x| format!("{x:?}")).collect();
            format!("{}({})", value.ty().name(), parts.join(", "))
        }
    }
}
