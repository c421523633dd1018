//! Literals of a program's type of floats, and the words that its values take in storage.

use super::{Expr, ExprId, Program, RealType, Type, Value};
use crate::span::Span;

impl Program {
    /// Words that a value of this type takes in storage.
    pub fn words(&self, ty: Type) -> u32 {
        ty.words_of(self.real)
    }

    /// A literal of the program's type of floats: the `f32` next to the value, or itself. A vector may take
    /// several nodes.
    pub fn add_literal(&mut self, value: Value<f64>, span: Span) -> ExprId {
        if let Some(literal) = self.literal(value) {
            return self.add(literal, span);
        }
        let part = |x: &f64| self.add_literal(Value::F32(*x), span);
        let parts = value.floats().iter().map(part).collect();
        self.add(Expr::Compose(parts), span)
    }

    /// The same if it is one node.
    pub fn literal(&self, value: Value<f64>) -> Option<Expr> {
        let exact = match self.real {
            RealType::F32 => Some(value.single()),
            RealType::F64 => value.exact_single(),
        };
        match (exact, value) {
            (Some(exact), _) => Some(Expr::Literal(exact)),
            (None, Value::F32(x)) => Some(Expr::Double(x.to_bits())),
            (None, _) => None,
        }
    }

    /// The number that the model says, where the `f32` of a literal is another one.
    pub fn literal_text(&self, id: ExprId) -> Option<f64> {
        self.texts.get(&id).copied()
    }
}
