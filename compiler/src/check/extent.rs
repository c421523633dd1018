//! What would grow without bound: structs of structs, constants of constants, calls that are written out
//! where they stand. Each has a limit, far beyond any model, so that no text makes the compiler hang.

use super::Checker;
use crate::{
    diagnostic::catalog,
    hir::{FunctionId, Type},
    span::Span,
};

/// Numbers that all constants of a model may have, counted where they are computed.
const MAX_CONSTANT_NUMBERS: u64 = 1 << 20;
/// An array of equal constants with more numbers than this is filled by a loop in the run.
pub(super) const MAX_FOLDED_NUMBERS: u64 = 1 << 16;
/// Scalars and vectors in a struct, its fields' fields included; an array counts once.
const MAX_FIELDS: u64 = 4_096;
/// Calls of functions that are written out, in the whole model.
const MAX_WRITTEN_OUT: u64 = 20_000;

impl Checker<'_> {
    /// How many numbers a value of this type has; a vector counts once.
    pub(super) fn numbers(&self, ty: &Type) -> u64 {
        match ty {
            Type::Array(element, length) => {
                self.numbers(element).saturating_mul(u64::from(*length))
            }
            Type::Open(element) => self.numbers(element),
            Type::Struct(id) => self.model[*id]
                .fields
                .iter()
                .map(|(_, ty)| self.numbers(ty))
                .fold(0, u64::saturating_add),
            Type::Value(_)
            | Type::Enum(_)
            | Type::AbstractInt
            | Type::AbstractFloat
            | Type::Error => 1,
        }
    }

    /// Counts numbers of constants that are computed; false after a complaint that they are too many.
    pub(super) fn afford(&mut self, numbers: u64, span: Span) -> bool {
        if self.constant_numbers > MAX_CONSTANT_NUMBERS {
            return false;
        }
        self.constant_numbers = self.constant_numbers.saturating_add(numbers);
        if self.constant_numbers > MAX_CONSTANT_NUMBERS {
            self.report(catalog::constants::constants_too_large(
                MAX_CONSTANT_NUMBERS,
                span,
            ));
            return false;
        }
        true
    }

    /// Complains of structs with too many fields; none contains itself.
    pub(super) fn check_fields(&mut self) {
        let mut counts: Vec<Option<u64>> = vec![None; self.model.structs.len()];
        for start in 0..counts.len() {
            let mut stack = vec![start];
            while let Some(&index) = stack.last() {
                let missing = self
                    .structs_in(index)
                    .find(|&inner| counts[inner].is_none());
                if let Some(inner) = missing {
                    stack.push(inner);
                    continue;
                }
                let fields = &self.model.structs[index].fields;
                let inner: u64 = self
                    .structs_in(index)
                    .map(|inner| counts[inner].unwrap_or(1))
                    .fold(0, u64::saturating_add);
                let own = fields.len() - self.structs_in(index).count();
                counts[index] = Some(inner.saturating_add(own as u64));
                stack.pop();
            }
        }
        // The smallest struct beyond the limit is the mistake; those that contain it follow from it.
        let worst = (0..counts.len())
            .filter(|&index| counts[index] > Some(MAX_FIELDS))
            .min_by_key(|&index| counts[index]);
        let Some(worst) = worst else { return };
        let item = &self.model.structs[worst];
        let report = catalog::model::too_many_fields(
            &item.name,
            counts[worst].unwrap_or_default(),
            MAX_FIELDS,
            item.span,
        );
        self.report(report);
        self.break_structs();
    }

    /// The structs that a struct's fields are, or are arrays of.
    fn structs_in(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let fields = self.model.structs[index].fields.iter();
        fields.filter_map(|(_, ty)| match innermost(ty) {
            Type::Struct(id) => Some(id.0 as usize),
            _ => None,
        })
    }

    /// Makes all fields fit everywhere, after a complaint about a struct that cannot be walked.
    pub(super) fn break_structs(&mut self) {
        for item in &mut self.model.structs {
            item.fields.iter_mut().for_each(|(_, ty)| *ty = Type::Error);
        }
    }

    /// Complains if the calls that lowering writes out are too many. Calls have no circles here, and
    /// `draws` and `reads_inputs` are known.
    pub(super) fn check_written_out(&mut self, edges: &[Vec<(FunctionId, Span)>]) {
        let inlined: Vec<bool> = self
            .model
            .functions
            .iter()
            .map(|function| function.is_written_out(&self.model) && !function.is_expression)
            .collect();
        let mut costs: Vec<Option<u64>> = vec![None; edges.len()];
        for start in 0..edges.len() {
            let mut stack = vec![start];
            while let Some(&index) = stack.last() {
                let callees = edges[index].iter().map(|(callee, _)| callee.0 as usize);
                if let Some(missing) = callees.clone().find(|&callee| costs[callee].is_none()) {
                    stack.push(missing);
                    continue;
                }
                let inner = callees
                    .filter(|&callee| inlined[callee])
                    .map(|callee| costs[callee].unwrap_or(1))
                    .fold(1, u64::saturating_add);
                costs[index] = Some(inner);
                stack.pop();
            }
        }
        // Calls from blocks, and from functions that stay functions.
        let mut sum = 0u64;
        for call in &self.calls {
            let callee = call.callee.0 as usize;
            let from_function = call.caller.is_some_and(|caller| inlined[caller.0 as usize]);
            if from_function || !inlined[callee] {
                continue;
            }
            sum = sum.saturating_add(costs[callee].unwrap_or(1));
            if sum > MAX_WRITTEN_OUT {
                let name = self.model[call.callee].name.clone();
                let report = catalog::model::too_much_code(&name, MAX_WRITTEN_OUT, call.span);
                return self.report(report);
            }
        }
    }
}

fn innermost(ty: &Type) -> &Type {
    match ty {
        Type::Array(element, _) | Type::Open(element) => innermost(element),
        other => other,
    }
}
