//! Tables by variable, expression or function of a program.

use super::{Expr, ExprId, Function, FunctionId, Program, Var, VarId};
use std::{
    marker::PhantomData,
    ops::{Index, IndexMut},
};

/// What numbers the entries of a table.
pub trait Id: Copy {
    /// The number as a place in a table.
    fn place(self) -> usize;
}

/// Declares the numbers of the entries of a list of the program.
macro_rules! ids {
    ($($id:ident: $list:ident of $entry:ident;)+) => {$(
        impl Id for $id {
            fn place(self) -> usize {
                self.0 as usize
            }
        }

        impl Index<$id> for Program {
            type Output = $entry;
            fn index(&self, id: $id) -> &$entry {
                &self.$list[id.place()]
            }
        }

        impl IndexMut<$id> for Program {
            fn index_mut(&mut self, id: $id) -> &mut $entry {
                &mut self.$list[id.place()]
            }
        }
    )+};
}

ids! {
    VarId: vars of Var;
    ExprId: exprs of Expr;
    FunctionId: functions of Function;
}

/// A value of type `T` for each id of a program.
#[derive(Clone, Debug)]
pub struct Map<K, T> {
    values: Vec<T>,
    key: PhantomData<K>,
}

/// A value for each variable.
pub type VarMap<T> = Map<VarId, T>;
/// A value for each expression.
pub type ExprMap<T> = Map<ExprId, T>;
/// A value for each function.
pub type FunctionMap<T> = Map<FunctionId, T>;

impl<K, T> Default for Map<K, T> {
    fn default() -> Self {
        Map::from(Vec::new())
    }
}

impl<K, T> From<Vec<T>> for Map<K, T> {
    fn from(values: Vec<T>) -> Self {
        Map {
            values,
            key: PhantomData,
        }
    }
}

impl<K, T> FromIterator<T> for Map<K, T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Map::from(Vec::from_iter(values))
    }
}

impl<K: Id, T> Map<K, T> {
    /// The same value for each of `count` ids.
    pub fn filled(value: T, count: usize) -> Self
    where
        T: Clone,
    {
        Map::from(vec![value; count])
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Does an id have this value?
    pub fn contains(&self, value: &T) -> bool
    where
        T: PartialEq,
    {
        self.values.contains(value)
    }

    /// The entry of an id, if the table reaches so far.
    pub fn get(&self, id: K) -> Option<&T> {
        self.values.get(id.place())
    }

    /// The entry of an id, to be changed, if the table reaches so far.
    pub fn get_mut(&mut self, id: K) -> Option<&mut T> {
        self.values.get_mut(id.place())
    }

    /// The entry of an id, for which the table grows by `value` if it does not reach so far.
    pub fn grow(&mut self, id: K, value: T) -> &mut T
    where
        T: Clone,
    {
        if id.place() >= self.values.len() {
            self.values.resize(id.place() + 1, value);
        }
        &mut self.values[id.place()]
    }

    /// Adds entries of this value until there are `count`.
    pub fn reach(&mut self, count: usize, value: T)
    where
        T: Clone,
    {
        if self.values.len() < count {
            self.values.resize(count, value);
        }
    }

    /// Adds an entry for the next id.
    pub fn push(&mut self, value: T) {
        self.values.push(value);
    }

    /// The entries in the order of ids.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.values.iter()
    }

    /// The entries in the order of ids, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.values.iter_mut()
    }
}

impl<K: Id, T> Index<K> for Map<K, T> {
    type Output = T;
    fn index(&self, id: K) -> &T {
        &self.values[id.place()]
    }
}

impl<K: Id, T> IndexMut<K> for Map<K, T> {
    fn index_mut(&mut self, id: K) -> &mut T {
        &mut self.values[id.place()]
    }
}

impl<K: Id, T> Index<&K> for Map<K, T> {
    type Output = T;
    fn index(&self, id: &K) -> &T {
        &self.values[id.place()]
    }
}

impl<K: Id, T> IndexMut<&K> for Map<K, T> {
    fn index_mut(&mut self, id: &K) -> &mut T {
        &mut self.values[id.place()]
    }
}

impl Program {
    /// The ids of all variables.
    pub fn var_ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.vars.len() as u32).map(VarId)
    }

    /// The ids of all functions, callees before callers.
    pub fn function_ids(&self) -> impl Iterator<Item = FunctionId> + use<> {
        (0..self.functions.len() as u32).map(FunctionId)
    }
}
