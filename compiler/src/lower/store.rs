//! Stores values of any type into places.

use super::{
    Lowerer,
    place::{Index, Place},
};
use crate::{
    hir::{self, Comprehension, Constant, Domain, ExprKind, Type},
    ir::{self, Expr, Stmt, VarId},
};

/// A constant array with fewer elements is stored element by element, a longer one by a loop.
const SPELLED_OUT: usize = 16;

impl Lowerer<'_> {
    /// Evaluates an expression into a place that the expression does not read.
    pub(super) fn store_into(&mut self, place: &Place, id: hir::ExprId) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            if self.is_full() {
                return;
            }
            let before = std::mem::replace(&mut self.span, self.model[id].span);
            self.store_inner(place, id);
            self.span = before;
        });
    }

    fn store_inner(&mut self, place: &Place, id: hir::ExprId) {
        let model = self.model;
        if self.ty(id).value().is_some() {
            let value = self.scalar(id);
            return self.store(place, value);
        }
        match &model[id].kind {
            ExprKind::Array(elements) => {
                for (k, &element) in elements.iter().enumerate() {
                    self.store_into(&place.at(Index::Constant(k as u32)), element);
                }
            }
            ExprKind::Repeat(value) => self.repeat(place, *value),
            ExprKind::Comprehension(over) => self.comprehension(place, over),
            ExprKind::Compose(fields) => {
                for (k, &field) in fields.iter().enumerate() {
                    self.store_into(&place.field(model, &self.fields, k as u32), field);
                }
            }
            ExprKind::Constant(constant) => self.store_constant(place, constant, &model[id].ty),
            ExprKind::If {
                branches,
                otherwise,
            } => self.store_if(place, branches, *otherwise),
            ExprKind::Call(function, args) => self.call_into(place, *function, args),
            _ => {
                let from = self.place(id);
                self.copy(place, &from);
            }
        }
    }

    fn repeat(&mut self, place: &Place, value: hir::ExprId) {
        let length = place.length().expect("`[v; N]` is an array");
        // `v` is evaluated once, as its draws are made once.
        let source = if self.ty(value).value().is_some() {
            let value = self.scalar(value);
            let ty = place.at(Index::Constant(0)).ty;
            let var = self.bind("value", value);
            self.single(var, &ty)
        } else {
            self.place(value)
        };
        let (start, end) = (self.int(0), self.int(i64::from(length)));
        self.each("k", start, end, |lowerer, index| {
            lowerer.copy(&place.at(Index::Variable(index)), &source);
        });
    }

    fn comprehension(&mut self, place: &Place, over: &Comprehension) {
        let Domain::Range(start, end) = over.domain else {
            unreachable!("an array has no element for each agent of the world")
        };
        let (start, end) = (self.scalar(start), self.scalar(end));
        let first = self.range(start).map_or(0, |(low, _)| low);
        let name = self.model[over.index].name.clone();
        self.each(&name, start, end, |lowerer, index| {
            lowerer.bind_index(over.index, index);
            let target = if first == 0 {
                index
            } else {
                let value = lowerer.read(index);
                let first = lowerer.int(first);
                let value = lowerer.binary(ir::BinaryOp::Subtract, value, first);
                lowerer.bind("at", value)
            };
            lowerer.store_into(&place.at(Index::Variable(target)), over.value);
        });
    }

    /// The user's name for the index of a loop.
    pub(super) fn bind_index(&mut self, local: hir::LocalId, index: VarId) {
        let place = self.single(index, &Type::I32);
        self.locals.insert(local, place);
    }

    /// Are these several equal values? Compared once, however often they are stored.
    fn is_uniform(&mut self, values: &[Constant]) -> bool {
        let compare = || values.len() > 1 && values.iter().all(|value| *value == values[0]);
        if values.len() <= SPELLED_OUT {
            return compare();
        }
        *self.uniform.entry(values.as_ptr()).or_insert_with(compare)
    }

    fn store_constant(&mut self, place: &Place, constant: &Constant, ty: &Type) {
        match (constant, ty) {
            (Constant::Many(values), Type::Array(element, length)) => {
                if self.is_uniform(values) {
                    let (start, end) = (self.int(0), self.int(i64::from(*length)));
                    return self.each("k", start, end, |lowerer, index| {
                        lowerer.store_constant(
                            &place.at(Index::Variable(index)),
                            &values[0],
                            element,
                        );
                    });
                }
                if values.len() > SPELLED_OUT {
                    let from = self.constant_place(constant, ty);
                    return self.copy(place, &from);
                }
                for (k, value) in values.iter().enumerate() {
                    self.store_constant(&place.at(Index::Constant(k as u32)), value, element);
                }
            }
            (Constant::Many(values), Type::Struct(item)) => {
                let model = self.model;
                for (k, (value, (_, ty))) in values.iter().zip(&model[*item].fields).enumerate() {
                    self.store_constant(&place.field(model, &self.fields, k as u32), value, ty);
                }
            }
            _ => {
                let value = self.constant(constant);
                self.store(place, value);
            }
        }
    }

    fn store_if(
        &mut self,
        place: &Place,
        branches: &[(hir::ExprId, hir::ExprId)],
        otherwise: hir::ExprId,
    ) {
        let Some(((condition, value), rest)) = branches.split_first() else {
            return self.store_into(place, otherwise);
        };
        let condition = self.scalar(*condition);
        let accept = self.conditionally(|lowerer| lowerer.store_into(place, *value));
        let reject = self.conditionally(|lowerer| lowerer.store_if(place, rest, otherwise));
        self.emit(Stmt::If {
            condition,
            accept,
            reject,
        });
    }

    /// A default of the place's type, or one value for every element.
    pub(super) fn fill(&mut self, place: &Place, value: hir::ExprId) {
        if self.ty(value) != &place.ty {
            let source = if self.ty(value).value().is_some() {
                let scalar = self.scalar(value);
                let var = self.bind("value", scalar);
                self.single(var, self.ty(value))
            } else {
                self.place(value)
            };
            return self.each_element(place, &mut |lowerer, element| {
                lowerer.copy(element, &source)
            });
        }
        self.store_into(place, value);
    }

    /// One draw per scalar of the place.
    pub(super) fn draw_each(&mut self, place: &Place, value: hir::ExprId) {
        self.each_element(place, &mut |lowerer, element| {
            // Every agent draws all elements.
            lowerer.conditional = false;
            let components = element.ty.value().map_or(1, ir::Type::components);
            if components > 1 && lowerer.ty(value) == &Type::F32 {
                let parts = (0..components)
                    .map(|_| {
                        let part = lowerer.scalar(value);
                        let var = lowerer.bind("component", part);
                        lowerer.read(var)
                    })
                    .collect();
                let vector = lowerer.add(Expr::Compose(parts));
                return lowerer.store(element, vector);
            }
            let scalar = lowerer.scalar(value);
            lowerer.store(element, scalar);
        });
    }

    fn each_element(&mut self, place: &Place, run: &mut dyn FnMut(&mut Self, &Place)) {
        let Some(length) = place.length() else {
            return run(self, place);
        };
        let (start, end) = (self.int(0), self.int(i64::from(length)));
        self.each("k", start, end, |lowerer, index| {
            lowerer.each_element(&place.at(Index::Variable(index)), run);
        });
    }
}
