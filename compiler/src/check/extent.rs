//! Limits of what would grow without bound: structs of structs, constants of constants, inlined calls. Each
//! limit is far beyond any model, so that no text makes the compiler hang.

use super::{Checked, Checker, Place};
use crate::{
    diagnostic::{Reported, catalog},
    hir::Type,
    span::Span,
    syntax::ast,
};

/// Numbers that all constants of a model may have, counted where they are computed.
const MAX_CONSTANT_NUMBERS: u64 = 1 << 20;
/// Expressions that the iterations of all constant comprehensions may evaluate.
const MAX_EVALUATIONS: u64 = 1 << 21;
/// An array of equal constants with more numbers than this is filled by a loop at run time.
pub(super) const MAX_FOLDED_NUMBERS: u64 = 1 << 16;
/// Scalars and vectors in a struct, its fields' fields included; an array counts once.
const MAX_FIELDS: u64 = 4_096;
/// Nesting depth of structs.
const MAX_STRUCT_DEPTH: u64 = 64;
/// Calls of functions that are inlined, in the whole model.
const MAX_WRITTEN_OUT: u64 = 20_000;

/// What the constants of a model have taken so far.
#[derive(Debug, Default)]
pub(super) struct ConstantWork {
    numbers: u64,
    /// Numbers of constants that could also have been computed at run time.
    folded: u64,
    evaluations: u64,
    /// Comprehensions and functions that are being evaluated, nested.
    pub(super) rounds: u32,
    /// It was too much, and the complaint has been made.
    refused: Option<Reported>,
}

impl ConstantWork {
    /// Numbers of an array of which one is changed: much less work than evaluating as many expressions.
    pub(super) fn copy(&mut self, numbers: u64) {
        self.evaluations = self.evaluations.saturating_add(numbers / 64);
    }
}

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
            | Type::Agent
            | Type::AbstractInt
            | Type::AbstractFloat
            | Type::Error(_) => 1,
        }
    }

    /// Counts numbers of constants that are computed; complains once if they are too many.
    pub(super) fn afford(&mut self, numbers: u64, span: Span) -> Checked<()> {
        let limit = format!("{MAX_CONSTANT_NUMBERS} numbers");
        self.constant_work.numbers = self.constant_work.numbers.saturating_add(numbers);
        let beyond = self.constant_work.numbers > MAX_CONSTANT_NUMBERS;
        self.within(beyond, &limit, span)
    }

    /// May a constant be made of constants, with this many more numbers? In a constant it must, and a
    /// complaint says if that is too much; elsewhere it can be computed at run time.
    pub(super) fn folds(&mut self, numbers: u64, span: Span) -> Checked<bool> {
        if self.place == Place::Constant {
            self.afford(numbers, span)?;
            return Ok(true);
        }
        let folded = self.constant_work.folded.saturating_add(numbers);
        if folded > MAX_CONSTANT_NUMBERS {
            return Ok(false);
        }
        self.constant_work.folded = folded;
        Ok(true)
    }

    /// The numbers that these parts of a value add to those of their text: a name may refer to many.
    pub(super) fn copied<'e, 't>(
        &self,
        parts: impl Iterator<Item = (&'e ast::Expr, &'t Type)>,
    ) -> u64 {
        let named = parts.filter(|(written, _)| !is_spelled_out(written));
        let numbers = named.map(|(_, ty)| self.numbers(ty));
        numbers
            .filter(|numbers| *numbers > 1)
            .fold(0, u64::saturating_add)
    }

    /// Counts an expression that is evaluated in an iteration of a constant comprehension, or in a function.
    pub(super) fn count_evaluation(&mut self) {
        self.constant_work.evaluations += u64::from(self.constant_work.rounds > 0);
    }

    /// Complains once if constant comprehensions and functions have evaluated too much.
    pub(super) fn afford_round(&mut self, span: Span) -> Checked<()> {
        let limit = format!("{MAX_EVALUATIONS} evaluated expressions");
        let beyond = self.constant_work.evaluations > MAX_EVALUATIONS;
        self.within(beyond, &limit, span)
    }

    fn within(&mut self, beyond: bool, limit: &str, span: Span) -> Checked<()> {
        if !beyond {
            return Ok(());
        }
        if let Some(reported) = self.constant_work.refused {
            return Err(reported);
        }
        let reported = self.report(catalog::constants::constants_too_large(limit, span));
        self.constant_work.refused = Some(reported);
        Err(reported)
    }

    /// The structs that the fields of each struct are, or are arrays of.
    pub(super) fn structs_of_structs(&self) -> Vec<Vec<usize>> {
        let inner = |(_, ty): &(String, Type)| match ty.innermost() {
            Type::Struct(id) => Some(id.0 as usize),
            _ => None,
        };
        let structs = self.model.structs.iter();
        structs
            .map(|item| item.fields.iter().filter_map(inner).collect())
            .collect()
    }

    /// Complains of structs with too many fields, or too deep; none contains itself. `inner` are the structs
    /// within each, and `order` has them before it.
    pub(super) fn check_fields(&mut self, inner: &[Vec<usize>], order: &[usize]) {
        let mut counts = vec![0u64; inner.len()];
        let mut depths = vec![1u64; inner.len()];
        for &index in order {
            let own = self.model.structs[index].fields.len() - inner[index].len();
            let fields = inner[index].iter().map(|&inner| counts[inner]);
            counts[index] = fields.fold(own as u64, u64::saturating_add);
            let deepest = inner[index].iter().map(|&inner| depths[inner]).max();
            depths[index] = 1 + deepest.unwrap_or(0);
        }
        // The smallest struct beyond the limit is the mistake; those that contain it follow from it.
        let least_beyond = |sizes: &[u64], limit: u64| {
            let beyond = (0..sizes.len()).filter(|&index| sizes[index] > limit);
            beyond.min_by_key(|&index| sizes[index])
        };
        let report = if let Some(worst) = least_beyond(&counts, MAX_FIELDS) {
            let item = &self.model.structs[worst];
            catalog::model::too_many_fields(&item.name, counts[worst], MAX_FIELDS, item.span)
        } else if let Some(worst) = least_beyond(&depths, MAX_STRUCT_DEPTH) {
            let item = &self.model.structs[worst];
            catalog::model::structs_too_deep(&item.name, MAX_STRUCT_DEPTH, item.span)
        } else {
            return;
        };
        let reported = self.report(report);
        self.break_structs(reported);
    }

    /// Makes all fields compatible with everything, after a complaint about a struct that cannot be walked.
    pub(super) fn break_structs(&mut self, reported: Reported) {
        for item in &mut self.model.structs {
            let fields = item.fields.iter_mut();
            fields.for_each(|(_, ty)| *ty = Type::Error(reported));
        }
    }

    /// Complains if too many calls would be inlined. There is no recursion here; `order` has callees before
    /// callers, and `draws` and `reads_inputs` are known.
    pub(super) fn check_written_out(&mut self, callees: &[Vec<usize>], order: &[usize]) {
        let inlined: Vec<bool> = self
            .model
            .functions
            .iter()
            .map(|function| function.is_written_out(&self.model) && !function.is_expression)
            .collect();
        let mut costs = vec![1u64; callees.len()];
        for &index in order {
            let written_out = callees[index].iter().filter(|&&callee| inlined[callee]);
            let inner = written_out.map(|&callee| costs[callee]);
            costs[index] = inner.fold(1, u64::saturating_add);
        }
        // Calls from blocks, and from functions that stay functions.
        let mut sum = 0u64;
        for call in &self.calls {
            let callee = call.callee.0 as usize;
            let from_function = call.caller.is_some_and(|caller| inlined[caller.0 as usize]);
            if from_function || !inlined[callee] {
                continue;
            }
            sum = sum.saturating_add(costs[callee]);
            if sum > MAX_WRITTEN_OUT {
                let name = self.model[call.callee].name.clone();
                let report = catalog::model::too_much_code(&name, MAX_WRITTEN_OUT, call.span);
                self.report(report);
                return;
            }
        }
    }
}

/// Does it compute its elements itself, so that they were counted there?
pub(super) fn is_spelled_out(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Array(_) | ast::ExprKind::Repeat(..) | ast::ExprKind::Comprehension(_) => {
            true
        }
        ast::ExprKind::Paren(inner) => is_spelled_out(inner),
        _ => false,
    }
}
