//! Where a value is stored: which variables, and where in them.

use super::Lowerer;
use crate::{
    hir::{Model, StructId, Type},
    ir::{self, Expr, ExprId, Len, Stmt, Value, VarId, VarKind},
};
use std::ops::Range;

/// Storage for a value of any type: one leaf per scalar or vector in it, through structs and arrays.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) ty: Type,
    pub(super) leaves: Vec<Leaf>,
}

/// A field of scalars or vectors inside a place: a variable, and an offset into it if it is an array.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) var: VarId,
    /// The array dimensions that are not indexed yet, outermost first.
    pub(super) dims: Vec<u32>,
    offset: u32,
    /// Index variables with the number of elements that each of their steps spans.
    terms: Vec<(VarId, u32)>,
    /// Another agent of the world, whose place it is: a variable with its place in the world.
    pub(super) other: Option<VarId>,
}

/// An index that is in range.
#[derive(Clone, Copy, Debug)]
pub(super) enum Index {
    Constant(u32),
    /// An `i32` variable that keeps its value.
    Variable(VarId),
}

/// A leaf of a type: the path of fields to it, its array dimensions and its scalar or vector.
pub(super) struct LeafType {
    pub(super) path: Vec<String>,
    pub(super) dims: Vec<u32>,
    pub(super) ty: ir::Type,
    /// The innermost type as the checker knows it, for enums.
    pub(super) source: Type,
}

/// The leaves of a type in layout order; an open length counts as 0.
pub(super) fn leaves(model: &Model, ty: &Type) -> Vec<LeafType> {
    match ty {
        Type::Array(element, length) => with_dim(leaves(model, element), *length),
        Type::Open(element) => with_dim(leaves(model, element), 0),
        Type::Struct(id) => model[*id]
            .fields
            .iter()
            .flat_map(|(name, ty)| {
                leaves(model, ty).into_iter().map(|mut leaf| {
                    leaf.path.insert(0, name.clone());
                    leaf
                })
            })
            .collect(),
        Type::Value(_)
        | Type::Enum(_)
        | Type::Agent
        | Type::AbstractInt
        | Type::AbstractFloat
        | Type::Error(_) => {
            let value = ty.default_concrete().value().unwrap_or(ir::Type::F32);
            vec![LeafType {
                path: Vec::new(),
                dims: Vec::new(),
                ty: value,
                source: ty.clone(),
            }]
        }
    }
}

fn with_dim(mut leaves: Vec<LeafType>, length: u32) -> Vec<LeafType> {
    leaves
        .iter_mut()
        .for_each(|leaf| leaf.dims.insert(0, length));
    leaves
}

/// The layout of the leaves of structs: for each struct, before which of its leaves each field begins, and at
/// last how many there are.
pub(super) struct Fields(Vec<Vec<usize>>);

impl Fields {
    pub(super) fn of(model: &Model) -> Fields {
        let mut fields = Fields(vec![Vec::new(); model.structs.len()]);
        for index in 0..model.structs.len() {
            fields.know(model, index);
        }
        fields
    }

    /// Structs may come before those they contain; the checker bounds their depth.
    fn know(&mut self, model: &Model, index: usize) {
        if !self.0[index].is_empty() {
            return;
        }
        let mut starts = vec![0];
        let mut count = 0;
        for (_, ty) in &model.structs[index].fields {
            if let Type::Struct(inner) = innermost(ty) {
                self.know(model, inner.0 as usize);
            }
            count += self.count(ty);
            starts.push(count);
        }
        self.0[index] = starts;
    }

    /// How many leaves a type has.
    pub(super) fn count(&self, ty: &Type) -> usize {
        match innermost(ty) {
            Type::Struct(id) => self.0[id.0 as usize].last().copied().unwrap_or(0),
            _ => 1,
        }
    }

    /// Which leaves of a struct a field has.
    pub(super) fn leaves_of(&self, id: StructId, field: usize) -> Range<usize> {
        let starts = &self.0[id.0 as usize];
        starts[field]..starts[field + 1]
    }
}

fn innermost(ty: &Type) -> &Type {
    match ty {
        Type::Array(element, _) | Type::Open(element) => innermost(element),
        other => other,
    }
}

impl Leaf {
    pub(super) fn whole(var: VarId, dims: Vec<u32>) -> Leaf {
        Leaf {
            var,
            dims,
            offset: 0,
            terms: Vec::new(),
            other: None,
        }
    }

    fn at(&self, index: Index) -> Leaf {
        let mut leaf = self.clone();
        leaf.dims.remove(0);
        let stride: u32 = leaf.dims.iter().product();
        match index {
            Index::Constant(value) => leaf.offset += value * stride,
            Index::Variable(var) => leaf.terms.push((var, stride)),
        }
        leaf
    }
}

impl Place {
    /// The element of an array.
    pub(super) fn at(&self, index: Index) -> Place {
        let ty = match &self.ty {
            Type::Array(element, _) | Type::Open(element) => (**element).clone(),
            other => unreachable!("the checker let {other:?} be indexed"),
        };
        Place {
            ty,
            leaves: self.leaves.iter().map(|leaf| leaf.at(index)).collect(),
        }
    }

    /// The field of a struct.
    pub(super) fn field(&self, model: &Model, fields: &Fields, field: u32) -> Place {
        let Type::Struct(id) = &self.ty else {
            unreachable!("the checker let {:?} have fields", self.ty)
        };
        Place {
            ty: model[*id].fields[field as usize].1.clone(),
            leaves: self.leaves[fields.leaves_of(*id, field as usize)].to_vec(),
        }
    }

    /// How many elements an array has; none for open tables.
    pub(super) fn length(&self) -> Option<u32> {
        match &self.ty {
            Type::Array(_, length) => Some(*length),
            _ => None,
        }
    }
}

impl Lowerer<'_> {
    /// Fresh local variables for a value of this type, declared here; arrays start as zeros.
    pub(super) fn temporary(&mut self, name: &str, ty: &Type) -> Place {
        let mut places = Vec::new();
        for leaf in leaves(self.model, ty) {
            let name = leaf_name(name, &leaf.path);
            let count: u32 = leaf.dims.iter().product();
            let len = if leaf.dims.is_empty() {
                Len::One
            } else {
                Len::Fixed(count)
            };
            let var = self.variable(&name, leaf.ty, len, VarKind::Local);
            let value = match len {
                Len::One => Some(self.literal(Value::zero(leaf.ty))),
                Len::Fixed(_) | Len::Open { .. } => None,
            };
            self.emit(Stmt::Var { var, value });
            places.push(Leaf::whole(var, leaf.dims));
        }
        Place {
            ty: ty.clone(),
            leaves: places,
        }
    }

    /// The place of one scalar or vector variable.
    pub(super) fn single(&self, var: VarId, ty: &Type) -> Place {
        Place {
            ty: ty.clone(),
            leaves: vec![Leaf::whole(var, Vec::new())],
        }
    }

    /// The value at a place of one scalar or vector.
    pub(super) fn load(&mut self, place: &Place) -> ExprId {
        self.load_leaf(&place.leaves[0])
    }

    pub(super) fn load_leaf(&mut self, leaf: &Leaf) -> ExprId {
        debug_assert!(leaf.dims.is_empty(), "a whole array has no value");
        let var = leaf.var;
        if self.program[var].len == Len::One {
            return self.rounded(var, leaf.other);
        }
        let index = self.offset(leaf);
        match leaf.other {
            None => self.add(Expr::Element { array: var, index }),
            Some(member) => self.other(var, Some(index), member),
        }
    }

    /// Assigns a place of one scalar or vector.
    pub(super) fn store(&mut self, place: &Place, value: ExprId) {
        self.store_leaf(&place.leaves[0], value);
    }

    pub(super) fn store_leaf(&mut self, leaf: &Leaf, value: ExprId) {
        debug_assert!(
            leaf.dims.is_empty(),
            "a whole array is copied element by element"
        );
        if self.program[leaf.var].len == Len::One {
            return self.assign(leaf.var, value);
        }
        let index = self.offset(leaf);
        self.emit(Stmt::AssignElement {
            var: leaf.var,
            index,
            value,
        });
    }

    /// The flat index of a leaf without dimensions left.
    fn offset(&mut self, leaf: &Leaf) -> ExprId {
        let mut sum: Option<ExprId> = None;
        for &(var, stride) in &leaf.terms {
            let mut term = self.read(var);
            if stride != 1 {
                let stride = self.int(i64::from(stride));
                term = self.binary(ir::BinaryOp::Multiply, term, stride);
            }
            sum = Some(match sum {
                Some(sum) => self.binary(ir::BinaryOp::Add, sum, term),
                None => term,
            });
        }
        match sum {
            Some(sum) if leaf.offset == 0 => sum,
            Some(sum) => {
                let offset = self.int(i64::from(leaf.offset));
                self.binary(ir::BinaryOp::Add, sum, offset)
            }
            None => self.int(i64::from(leaf.offset)),
        }
    }

    /// Copies a value of any type; the places must not overlap.
    pub(super) fn copy(&mut self, to: &Place, from: &Place) {
        for (target, source) in to.leaves.iter().zip(&from.leaves) {
            if self.is_full() {
                return;
            }
            self.copy_leaf(target, source, target.dims.clone());
        }
    }

    fn copy_leaf(&mut self, target: &Leaf, source: &Leaf, dims: Vec<u32>) {
        let Some((&length, rest)) = dims.split_first() else {
            let value = self.load_leaf(source);
            return self.store_leaf(target, value);
        };
        let (start, end) = (self.int(0), self.int(i64::from(length)));
        let (target, source, rest) = (target.clone(), source.clone(), rest.to_vec());
        self.each("k", start, end, |lowerer, index| {
            let index = Index::Variable(index);
            lowerer.copy_leaf(&target.at(index), &source.at(index), rest);
        });
    }
}

/// `order` and `["price"]` to `order.price`, as in the manifest.
pub(super) fn leaf_name(name: &str, path: &[String]) -> String {
    std::iter::once(name)
        .chain(path.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(".")
}
