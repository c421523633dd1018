//! Which elements of arrays a program reads and writes, and whose they are if the array is split.

use crate::{
    builtin::BuiltinId,
    ir::{BinaryOp, Expr, ExprId, Program, VarId, VarKind, VarMap},
    passes::rewrite::literal_i32,
};
use std::collections::BTreeSet;

/// An element that is read or written.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) array: VarId,
    /// Elements of the array, if lanes can have parts of it.
    pub(crate) elements: Option<u32>,
    /// The root of its index, which names the access.
    pub(crate) index: ExprId,
    pub(crate) writes: bool,
    /// All loops around it, outermost first.
    pub(crate) around: Vec<usize>,
    /// How many of them are around the declaration of the array, too.
    pub(crate) outside: usize,
    /// The loops on whose indices it depends which element it is.
    pub(crate) varies: BTreeSet<usize>,
    /// The loops on whose indices it depends whether it is accessed; none if that may depend on anything.
    pub(crate) control: Option<BTreeSet<usize>>,
    /// The index as a sum, if it is one.
    pub(crate) sum: Option<Linear>,
    /// The element's distance from that at a loop's index, if it is one near it.
    pub(crate) shift: Option<Shift>,
    /// How often it is accessed per step.
    pub(crate) runs: f64,
}

impl Access {
    /// The loops around it, of those that the array is declared outside of.
    pub(crate) fn inner(&self) -> &[usize] {
        &self.around[self.outside..]
    }
}

/// Which lane has which elements of a split array: that with the coordinate `index / stride % count`, and of
/// these each lane as many as any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Form {
    /// Coordinates.
    pub(crate) count: u32,
    /// The distance between elements whose coordinates are neighbours.
    pub(crate) stride: u32,
    /// Elements of the array.
    pub(crate) elements: u32,
}

impl Form {
    /// A lane has all elements from one to another.
    pub(crate) fn plain(elements: u32) -> Form {
        Form {
            count: elements,
            stride: 1,
            elements,
        }
    }

    /// How many consecutive elements a lane has.
    pub(crate) fn run(self, lanes: u32) -> u32 {
        self.count / lanes * self.stride
    }

    /// The number of elements after which the first coordinate comes again.
    pub(crate) fn period(self) -> u32 {
        self.count * self.stride
    }
}

/// An element some places before or behind that at the index of a loop over all elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shift {
    /// The index of the loop.
    pub(crate) own: VarId,
    /// How many places behind it; negative before it.
    pub(crate) by: i64,
    /// Which element it is beyond the ends.
    pub(crate) edge: Edge,
}

/// Which element is meant beyond the ends of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// The nearest one.
    Clamped,
    /// The ends are neighbours.
    Wrapped,
}

/// What a term of an index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atom {
    /// A variable that keeps its value.
    Var(VarId),
    /// Any other expression.
    Node(ExprId),
}

/// A part of a sum: a multiple of an integer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub(crate) atom: Atom,
    pub(crate) factor: i64,
    /// Between which numbers the atom is, if that is plain to see.
    bounds: Option<[i64; 2]>,
}

/// A sum of terms, and a number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Linear {
    pub(crate) terms: Vec<Term>,
    pub(crate) offset: i64,
}

/// What is known of variables that keep their values.
#[derive(Default)]
pub(crate) struct Names {
    known: VarMap<Known>,
}

#[derive(Clone, Default)]
struct Known {
    value: Option<ExprId>,
    sum: Option<Linear>,
    bounds: Option<[i64; 2]>,
}

impl Names {
    /// A name has this value.
    pub(crate) fn define(&mut self, program: &Program, var: VarId, value: ExprId) {
        let of_names = |term: &Term| match term.atom {
            Atom::Var(_) => true,
            Atom::Node(_) => false,
        };
        let sum = self.linear(program, value);
        let known = Known {
            value: Some(value),
            sum: sum.filter(|sum| sum.terms.iter().all(of_names)),
            bounds: self.bounds(program, value),
        };
        *self.known.grow(var, Known::default()) = known;
    }

    /// An index of a loop has values from `first` to `last`.
    pub(crate) fn bound(&mut self, var: VarId, first: i64, last: i64) {
        self.known.grow(var, Known::default()).bounds = Some([first, last]);
    }

    /// An integer as a sum.
    pub(crate) fn linear(&self, program: &Program, id: ExprId) -> Option<Linear> {
        if let Some(offset) = literal_i32(program, id) {
            return Some(Linear {
                terms: Vec::new(),
                offset: offset.into(),
            });
        }
        if let Expr::Read(var) = program[id]
            && keeps_value(program, var)
        {
            let sum = self.known.get(var).and_then(|known| known.sum.clone());
            return Some(sum.unwrap_or_else(|| self.term(program, id, Atom::Var(var))));
        }
        if let Expr::Binary(BinaryOp::Add, a, b) = program[id] {
            return self.linear(program, a)?.plus(self.linear(program, b)?, 1);
        }
        if let Expr::Binary(BinaryOp::Subtract, a, b) = program[id] {
            return self.linear(program, a)?.plus(self.linear(program, b)?, -1);
        }
        if let Expr::Binary(BinaryOp::Multiply, a, b) = program[id] {
            for (a, b) in [(a, b), (b, a)] {
                if let Some(factor) = literal_i32(program, b) {
                    let sum = self.linear(program, a)?;
                    return Linear::default().plus(sum, factor.into());
                }
            }
        }
        Some(self.term(program, id, Atom::Node(id)))
    }

    fn term(&self, program: &Program, id: ExprId, atom: Atom) -> Linear {
        let (factor, bounds) = (1, self.bounds(program, id));
        Linear {
            terms: vec![Term {
                atom,
                factor,
                bounds,
            }],
            offset: 0,
        }
    }

    /// Between which numbers an integer is, if that is plain to see.
    fn bounds(&self, program: &Program, id: ExprId) -> Option<[i64; 2]> {
        if let Expr::Read(var) = program[id] {
            return self.known.get(var)?.bounds;
        }
        let Expr::Builtin(BuiltinId::CLAMP, args) = &program[id] else {
            return None;
        };
        let literal = |at: usize| literal_i32(program, args[at]).map(i64::from);
        Some([literal(1)?, literal(2)?])
    }

    /// How far an index into so many elements is from that of a loop over them.
    pub(crate) fn shift(&self, program: &Program, id: ExprId, elements: u32) -> Option<Shift> {
        if let Expr::Read(var) = program[id] {
            let value = self.known.get(var)?.value?;
            return self.shift(program, value, elements);
        }
        let last = i64::from(elements) - 1;
        let is = |id: ExprId, number: i64| literal_i32(program, id).map(i64::from) == Some(number);
        if let Expr::Binary(BinaryOp::Remainder, a, b) = program[id] {
            // Of a negative number it is negative, and does not wrap.
            let (own, ahead) = self.near(program, a).filter(|(_, ahead)| *ahead > 0)?;
            let by = ahead - if ahead > last / 2 { last + 1 } else { 0 };
            let edge = Edge::Wrapped;
            return is(b, last + 1).then_some(Shift { own, by, edge });
        }
        let Expr::Builtin(builtin, args) = &program[id] else {
            return None;
        };
        let clamped = |by: i64| match (*builtin, &args[1..]) {
            (BuiltinId::CLAMP, &[low, high]) => is(low, 0) && is(high, last),
            (BuiltinId::MAX, &[low]) => is(low, 0) && by < 0,
            (BuiltinId::MIN, &[high]) => is(high, last) && by > 0,
            _ => false,
        };
        let near = self.near(program, args[0]).map(|(own, by)| Shift {
            own,
            by,
            edge: Edge::Clamped,
        });
        // Or it is in range already.
        let shift = near.or_else(|| self.shift(program, args[0], elements))?;
        clamped(shift.by).then_some(shift)
    }

    /// A variable plus a number.
    fn near(&self, program: &Program, id: ExprId) -> Option<(VarId, i64)> {
        let sum = self.linear(program, id)?;
        let [term] = sum.terms.as_slice() else {
            return None;
        };
        match term.atom {
            Atom::Var(own) if term.factor == 1 && sum.offset != 0 => Some((own, sum.offset)),
            Atom::Var(_) | Atom::Node(_) => None,
        }
    }
}

impl Linear {
    /// How much further an element is where a variable is one more; 1 if that is not known.
    pub(crate) fn factor(&self, var: VarId) -> i64 {
        self.of(var).map_or(1, |term| term.factor)
    }

    fn of(&self, var: VarId) -> Option<&Term> {
        self.terms.iter().find(|term| term.atom == Atom::Var(var))
    }

    /// The form in which the elements at this index belong to the lane that has iteration `own` of `count`.
    pub(crate) fn form(&self, own: VarId, count: u32, elements: u32) -> Option<Form> {
        let stride = self.of(own)?.factor;
        let form = Form {
            count,
            stride: u32::try_from(stride).ok().filter(|stride| *stride > 0)?,
            elements,
        };
        let period = i64::from(count) * stride;
        if period > i64::from(elements) || i64::from(elements) % period != 0 {
            return None;
        }
        // What is added to a multiple of the period must not reach the next coordinate.
        let mut last = self.offset.rem_euclid(period);
        for term in &self.terms {
            if term.atom == Atom::Var(own) || term.factor % period == 0 {
                continue;
            }
            let [low, high] = term.bounds?;
            if term.factor < 0 || low < 0 {
                return None;
            }
            last = last.checked_add(term.factor.checked_mul(high)?)?;
        }
        (last < stride).then_some(form)
    }

    /// This sum plus a multiple of another one. None where factors are too large.
    fn plus(mut self, other: Linear, factor: i64) -> Option<Linear> {
        for term in other.terms {
            let by = term.factor.checked_mul(factor)?;
            match self.terms.iter_mut().find(|known| known.atom == term.atom) {
                Some(known) => known.factor = known.factor.checked_add(by)?,
                None => self.terms.push(Term { factor: by, ..term }),
            }
        }
        self.terms.retain(|term| term.factor != 0);
        let offset = other.offset.checked_mul(factor)?;
        self.offset = self.offset.checked_add(offset)?;
        let small = |number: i64| i32::try_from(number).is_ok();
        let fine = small(self.offset) && self.terms.iter().all(|term| small(term.factor));
        fine.then_some(self)
    }
}

/// Does a variable have one value from where it is declared?
pub(crate) fn keeps_value(program: &Program, var: VarId) -> bool {
    match program[var].kind {
        VarKind::Let | VarKind::Index | VarKind::Param | VarKind::Argument => true,
        VarKind::Constant
        | VarKind::Data
        | VarKind::Input
        | VarKind::State
        | VarKind::Output
        | VarKind::Record
        | VarKind::WorldInput
        | VarKind::WorldState
        | VarKind::WorldOutput
        | VarKind::WorldRecord
        | VarKind::Local => false,
    }
}
