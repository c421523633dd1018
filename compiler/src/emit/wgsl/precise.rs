//! Precise mathematics: which functions replace builtins and division.

use super::{Writer, support::Support};
use crate::{
    Math,
    builtin::{BuiltinId, precise},
    ir::{Expr, ExprId, Type, Value},
};
use std::collections::BTreeSet;

impl Writer<'_> {
    /// The function that replaces a builtin, if precise mathematics was asked for and has one.
    pub(super) fn precise_form(&self, id: BuiltinId) -> Option<&'static str> {
        match self.math {
            Math::Fast => None,
            Math::Precise => precise::form(id),
        }
    }

    /// The function that divides the floats `a` by `b`, if precise mathematics was asked for. Powers of two
    /// are exact without.
    pub(super) fn precise_division(&self, a: ExprId, b: ExprId) -> Option<Support> {
        if self.math == Math::Fast {
            return None;
        }
        let divisor = if let Expr::Splat { value, .. } = self.program[b] {
            value
        } else {
            b
        };
        if let Expr::Literal(Value::F32(x)) = self.program[divisor]
            && x.is_normal()
            && x.to_bits() << 9 == 0
        {
            return None;
        }
        let types = [a, b].map(|operand| self.program.type_of(operand));
        match types[usize::from(types[1].is_vector())] {
            Type::F32 => Some(Support::Quotient),
            Type::Vec2 => Some(Support::QuotientVec2),
            Type::Vec3 => Some(Support::QuotientVec3),
            Type::Vec4 => Some(Support::QuotientVec4),
            Type::I32 | Type::U32 | Type::Bool => None,
        }
    }

    /// Writes the precise functions that the text calls, and all that they need.
    pub(super) fn precise_functions(&mut self) {
        if self.supports.contains(&Support::QuotientVec3)
            || self.supports.contains(&Support::QuotientVec4)
        {
            self.supports.insert(Support::QuotientVec2);
        }
        if self
            .supports
            .range(Support::Quotient..=Support::QuotientVec4)
            .next()
            .is_some()
        {
            self.precise.insert(precise::QUOTIENT);
        }
        // With fast mathematics these texts are never parsed.
        if self.precise.is_empty() {
            return;
        }
        let mut open: Vec<&str> = std::mem::take(&mut self.precise).into_iter().collect();
        let mut needed = BTreeSet::new();
        let items = || precise::items().iter();
        while let Some(name) = open.pop() {
            if needed.insert(name) {
                let found = items().filter(|item| item.name == name);
                open.extend(found.flat_map(|item| &item.needs));
            }
        }
        for item in items().filter(|item| needed.contains(item.name)) {
            self.blank();
            self.push(&item.text);
            self.push("\n");
        }
    }
}
