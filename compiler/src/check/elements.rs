//! What is meant where a person computes with whole arrays: the same by element, as text for messages.

use super::Checker;
use crate::{
    diagnostic::{Reported, catalog},
    hir::{BinaryOp, ExprId, Type},
    syntax::ast,
};

/// An operand or argument as text, and its length if it is an array.
pub(super) struct Part {
    text: String,
    length: Option<u32>,
}

/// The text of a name, or of fields of one.
pub(super) fn name_of(expr: &ast::Expr) -> Option<String> {
    match &expr.kind {
        ast::ExprKind::Name(name) => Some(name.clone()),
        ast::ExprKind::Field(base, field) => Some(format!("{}.{}", name_of(base)?, field.text)),
        _ => None,
    }
}

/// `[for i in 0..3: f(a[i], b[i])]` and its like: `open` and `close` stand around the comprehension, `before`
/// and `after` around the parts. None if no array is among them, or several of different lengths.
pub(super) fn by_element(
    parts: &[Part],
    [open, before, joint, after, close]: [&str; 5],
) -> Option<String> {
    let mut lengths = parts.iter().filter_map(|part| part.length);
    let length = lengths.next()?;
    if lengths.any(|other| other != length) {
        return None;
    }
    let taken = |name: &str| parts.iter().any(|part| part.text == name);
    let index = ["i", "j", "k"].into_iter().find(|name| !taken(name))?;
    let element = |part: &Part| match part.length {
        Some(_) => format!("{}[{index}]", part.text),
        None => part.text.clone(),
    };
    let elements: Vec<String> = parts.iter().map(element).collect();
    let elements = elements.join(joint);
    Some(format!(
        "{open}for {index} in 0..{length}: {before}{elements}{after}{close}"
    ))
}

impl Checker<'_> {
    /// A name for an operand or argument of any form.
    fn stand_in(&self, name: &str, id: ExprId) -> Part {
        let length = match self.ty(id) {
            Type::Array(_, length) => Some(*length),
            _ => None,
        };
        Part {
            text: name.to_owned(),
            length,
        }
    }

    /// An operand or argument, if it is simple enough to be written again.
    pub(super) fn part(&self, expr: &ast::Expr, id: ExprId) -> Option<Part> {
        let length = match self.ty(id) {
            Type::Array(_, length) => Some(*length),
            Type::Open(_) => return None,
            _ => None,
        };
        let text = match &expr.kind {
            ast::ExprKind::Int(value) => value.to_string(),
            ast::ExprKind::Float(value) => format!("{value:?}"),
            _ => name_of(expr)?,
        };
        Some(Part { text, length })
    }

    /// Complains of an operator between values of which one is an array.
    pub(super) fn array_operands(
        &mut self,
        op: BinaryOp,
        [left, right]: [(&ast::Expr, ExprId); 2],
        whole: crate::span::Span,
    ) -> Option<Reported> {
        let array = |id: ExprId| matches!(self.ty(id), Type::Array(..));
        let (_, first) = [left, right].into_iter().find(|(_, id)| array(*id))?;
        let arithmetic = matches!(
            op,
            BinaryOp::Add
                | BinaryOp::Subtract
                | BinaryOp::Multiply
                | BinaryOp::Divide
                | BinaryOp::Remainder
                | BinaryOp::Power
        );
        if !arithmetic {
            return None;
        }
        let parts = [left, right].map(|(expr, id)| self.part(expr, id));
        let joint = format!(" {} ", op.text());
        let named: Vec<&str> = (parts.iter().zip(["a", "b"]))
            .filter(|(part, _)| part.is_none())
            .map(|(_, name)| name)
            .collect();
        let [first_part, second_part] = parts;
        let parts = [
            first_part.unwrap_or_else(|| self.stand_in("a", left.1)),
            second_part.unwrap_or_else(|| self.stand_in("b", right.1)),
        ];
        let fence = ["[", "", &joint, "", "]"];
        let by_element = by_element(&parts, fence);
        let instead = match &by_element {
            Some(text) => format!("`{text}`"),
            None => format!("`[for i in 0..3: a[i]{joint}b[i]]`"),
        };
        let lets: Vec<String> = named
            .iter()
            .map(|name| format!("`let {name} = …`"))
            .collect();
        let (instead, fix) = match by_element {
            Some(_) if !lets.is_empty() => (format!("{} and {instead}", lets.join(", ")), None),
            fix => (instead, fix),
        };
        let report = catalog::types::array_as_whole(
            op.text(),
            &self.show(self.ty(first)),
            &instead,
            whole,
            self.expr_span(first),
            fix.as_deref(),
        );
        Some(self.report(report))
    }
}
