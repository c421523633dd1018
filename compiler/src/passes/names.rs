//! Readable names for the variables that passes make.

use crate::ir::{
    BinaryOp, Expr, ExprId, Len, Program, Stmt, Type, UnaryOp, Value, Var, VarId, VarKind,
};
use crate::span::Span;

/// Adds a variable of the compiler's own.
pub(crate) fn fresh(program: &mut Program, name: String, ty: Type, kind: VarKind) -> VarId {
    program.add_var(Var {
        name,
        doc: String::new(),
        ty,
        len: Len::One,
        kind,
        word: 0,
        span: Span::default(),
    })
}

/// Replaces the tree at `id` in its user by a read of a new name; returns the statement that defines the
/// name.
pub(crate) fn extract(program: &mut Program, id: ExprId) -> (VarId, Stmt) {
    let name = name_of(program, id);
    let ty = program.type_of(id);
    let var = fresh(program, name, ty, VarKind::Let);
    let node = std::mem::replace(&mut program[id], Expr::Read(var));
    let span = program.span(id);
    let value = program.add(node, span);
    (var, Stmt::Let { var, value })
}

/// A name for the value of an expression: `exp_rate`, `sigma_dt`, `w1_3`.
pub(crate) fn name_of(program: &Program, id: ExprId) -> String {
    let plain = |id| noun(program, id);
    match &program[id] {
        Expr::Element { array, index } => {
            let array = word(&program[*array].name);
            match plain(*index) {
                Some(index) => format!("{array}_{index}"),
                None => format!("{array}_value"),
            }
        }
        Expr::Binary(op, a, b) => match (plain(*a), plain(*b)) {
            (Some(a), Some(b)) if a.len() + b.len() <= 20 && !starts_with_digit(&a) => {
                format!("{a}_{}{b}", joint(*op))
            }
            (Some(_) | None, Some(_) | None) => noun_of_operator(*op).to_owned(),
        },
        Expr::Builtin(builtin, args) => {
            let name = builtin.row().name;
            match args.first().and_then(|&arg| plain(arg)) {
                Some(arg) if arg.len() <= 16 => format!("{name}_{arg}"),
                Some(_) | None => name.to_owned() + "_value",
            }
        }
        Expr::Call(function, _) => program[*function].name.clone() + "_value",
        Expr::Select { accept, .. } => {
            plain(*accept).map_or("choice".to_owned(), |name| format!("chosen_{name}"))
        }
        Expr::RandomWord { number, .. } => {
            plain(*number).map_or("word".to_owned(), |number| format!("word_{number}"))
        }
        Expr::Other { var, .. } => format!("other_{}", word(&program[*var].name)),
        Expr::Shuffle { value, lane, .. } => {
            let value = plain(*value).unwrap_or_else(|| "value".to_owned());
            let lane = plain(*lane).unwrap_or_else(|| "lane".to_owned());
            format!("{value}_of_{lane}")
        }
        Expr::AcrossLanes { value, .. } | Expr::AcrossWorld { value, .. } => {
            plain(*value).unwrap_or_else(|| "total".to_owned())
        }
        Expr::Unary(UnaryOp::Negate, a) => format!("minus_{}", name_of(program, *a)),
        Expr::Unary(UnaryOp::Not, a) => format!("not_{}", name_of(program, *a)),
        Expr::Literal(_)
        | Expr::Double(_)
        | Expr::Launch(_)
        | Expr::Rows(_)
        | Expr::Read(_)
        | Expr::Swizzle { .. }
        | Expr::Compose(_)
        | Expr::Splat { .. }
        | Expr::Unary(UnaryOp::Complement | UnaryOp::Fence | UnaryOp::Keep, _)
        | Expr::Convert { .. }
        | Expr::Bitcast { .. } => plain(id).unwrap_or_else(|| "value".to_owned()),
    }
}

fn noun(program: &Program, id: ExprId) -> Option<String> {
    match &program[id] {
        Expr::Read(var) => Some(word(&program[*var].name)),
        Expr::Literal(value) => match value {
            Value::I32(x) if *x >= 0 => Some(x.to_string()),
            Value::U32(x) => Some(x.to_string()),
            _ => None,
        },
        Expr::Swizzle { vector, components } => {
            let letters: String = components
                .iter()
                .map(|&k| ['x', 'y', 'z', 'w'][usize::from(k & 3)])
                .collect();
            noun(program, *vector).map(|name| format!("{name}_{letters}"))
        }
        Expr::Unary(UnaryOp::Negate, inner)
        | Expr::Convert { value: inner, .. }
        | Expr::Bitcast { value: inner, .. }
        | Expr::Splat { value: inner, .. } => noun(program, *inner),
        Expr::Element { .. } => Some(name_of(program, id)).filter(|name| name.len() <= 16),
        Expr::Double(_)
        | Expr::Launch(_)
        | Expr::Rows(_)
        | Expr::Compose(_)
        | Expr::Unary(UnaryOp::Not | UnaryOp::Complement | UnaryOp::Fence | UnaryOp::Keep, _)
        | Expr::Binary(_, _, _)
        | Expr::Select { .. }
        | Expr::Builtin(_, _)
        | Expr::Call(_, _)
        | Expr::RandomWord { .. }
        | Expr::AcrossLanes { .. }
        | Expr::Shuffle { .. }
        | Expr::AcrossWorld { .. }
        | Expr::Other { .. } => None,
    }
}

fn word(name: &str) -> String {
    name.replace('.', "_")
}

fn starts_with_digit(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_digit())
}

fn joint(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "plus_",
        BinaryOp::Subtract => "minus_",
        BinaryOp::Multiply => "",
        BinaryOp::Divide => "per_",
        BinaryOp::Remainder => "mod_",
        BinaryOp::Equal => "is_",
        BinaryOp::NotEqual => "is_not_",
        BinaryOp::Less | BinaryOp::LessEqual => "below_",
        BinaryOp::Greater | BinaryOp::GreaterEqual => "above_",
        BinaryOp::And | BinaryOp::BitAnd => "and_",
        BinaryOp::Or | BinaryOp::BitOr => "or_",
        BinaryOp::BitXor => "xor_",
        BinaryOp::ShiftLeft => "left_",
        BinaryOp::ShiftRight => "right_",
    }
}

fn noun_of_operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "total",
        BinaryOp::Subtract => "difference",
        BinaryOp::Multiply => "product",
        BinaryOp::Divide => "ratio",
        BinaryOp::Remainder => "remainder",
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::And
        | BinaryOp::Or => "holds",
        BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => "bits",
    }
}
