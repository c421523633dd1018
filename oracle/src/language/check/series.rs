//! What is recorded and observed: docs/language.md, "Values over time".

use super::super::tree::{self, Expr};
use super::super::typed::{Node, Program, Sampling, Series, Typed, Whose};
use super::super::value::{Ty, Value};
use super::{Checker, Outcome};

impl Checker<'_> {
    pub(super) fn series(&mut self, program: &mut Program) -> Outcome<()> {
        let tree = self.tree;
        for sampled in &tree.series {
            let series = self.one_series(sampled)?;
            if program.series.iter().any(|other| other.name == series.name) {
                return Err(format!("`{}` is sampled twice", series.name));
            }
            program.series.push(series);
        }
        Ok(())
    }

    fn one_series(&mut self, sampled: &tree::Sampled) -> Outcome<Series> {
        let every = match sampled.every {
            Some(_) => self.count(sampled.every.as_ref())?.unwrap_or(0),
            None => 1,
        };
        if every == 0 {
            return Err("a sample after every 0 steps".into());
        }
        let value = &sampled.value;
        let short = Expr::Name(value.name.clone());
        let expr = value.value.as_ref().unwrap_or(&short);
        let whose = match (sampled.record, value.world) {
            (true, _) => Whose::Agents,
            (false, true) => Whose::Worlds,
            (false, false) => Whose::Population,
        };
        self.has_worlds |= value.world;
        let (value, sampling, ty, slots) = match self.folded_agents(whose, expr)? {
            Some((name, arguments)) => self.fold_of_agents(name, arguments, &value.ty)?,
            None if whose == Whose::Population => {
                return Err(format!("`{}` folds no agents", value.name));
            }
            None => {
                let full = tree::Value {
                    value: Some(expr.clone()),
                    ..value.clone()
                };
                self.enter(value.world);
                let declared = self.declared(&full)?;
                self.enter(false);
                let typed = declared.value.ok_or("a series without value")?;
                (typed, None, declared.ty, declared.slots)
            }
        };
        Ok(Series {
            name: sampled.value.name.clone(),
            whose,
            ty,
            value,
            slots,
            sampling,
            every,
        })
    }

    /// The name and the arguments of a fold of agents, if it is one.
    fn folded_agents<'e>(
        &mut self,
        whose: Whose,
        expr: &'e Expr,
    ) -> Outcome<Option<(&'e str, &'e [Expr])>> {
        let Expr::Call(name, arguments) = expr else {
            return Ok(None);
        };
        let is_fold = match name.as_str() {
            "quantiles" | "histogram" => true,
            "sum" | "mean" | "min" | "max" | "count" | "any" | "all" | "var" | "sd" => {
                arguments.len() == 1
            }
            _ => false,
        };
        let is_code = match (whose, arguments.first()) {
            (Whose::Worlds, Some(name @ Expr::Name(_))) => {
                self.slots = 0;
                self.enter(false);
                matches!(self.expr(name)?.ty, Ty::Array(..))
            }
            (Whose::Worlds, Some(Expr::List(_) | Expr::Repeat(..) | Expr::Comprehension(_))) => {
                true
            }
            _ => whose == Whose::Agents,
        };
        Ok((is_fold && !is_code).then_some((name, arguments)))
    }

    fn fold_of_agents(
        &mut self,
        name: &str,
        arguments: &[Expr],
        written: &Option<tree::Type>,
    ) -> Outcome<(Typed, Option<Sampling>, Ty, usize)> {
        let written = written.as_ref().map(|ty| self.ty(ty)).transpose()?;
        let (first, rest) = arguments.split_first().ok_or("a fold of nothing")?;
        let value = self.declared(&tree::Value {
            name: name.to_owned(),
            ty: None,
            value: Some(first.clone()),
            drawn: false,
            world: false,
        })?;
        let (mut element, slots) = (value.value.ok_or("a fold of nothing")?, value.slots);
        // An abstract value takes the type of its place.
        self.scopes = vec![Default::default()];
        let bare = self.expr(first)?;
        self.scopes.clear();
        let sampling = match name {
            "var" => Sampling::Variance,
            "sd" => Sampling::Deviation,
            "quantiles" => {
                let fractions = rest.iter().map(|fraction| self.constant_float(fraction));
                Sampling::Quantiles(fractions.collect::<Outcome<_>>()?)
            }
            "histogram" => {
                let [low, high, bins] = rest else {
                    return Err("a histogram has four arguments".into());
                };
                let bins = self.count(Some(bins))?.ok_or("no number of bins")?;
                let (low, high) = (self.constant_float(low)?, self.constant_float(high)?);
                Sampling::Histogram(low, high, bins as usize)
            }
            _ => {
                if bare.ty.is_abstract() {
                    element = match (name, &written) {
                        ("mean", _) => self.coerce(bare, &Ty::F32)?,
                        ("sum" | "min" | "max", Some(ty)) => self.coerce(bare, ty)?,
                        _ => element,
                    };
                }
                Sampling::Fold(name.to_owned())
            }
        };
        let ty = match &sampling {
            Sampling::Fold(name) => self.fold_ty(name, &element.ty),
            Sampling::Variance | Sampling::Deviation => Ty::F32,
            Sampling::Quantiles(fractions) => Ty::Array(Box::new(Ty::F32), fractions.len()),
            Sampling::Histogram(_, _, bins) => Ty::Array(Box::new(Ty::I32), *bins),
        };
        if written.is_some_and(|written| written != ty) {
            return Err(format!("`{name}` has another type"));
        }
        Ok((element, Some(sampling), ty, slots))
    }

    fn constant_float(&mut self, expr: &Expr) -> Outcome<f32> {
        let known = self.constant(expr)?;
        match self.coerce(known, &Ty::F32)?.node {
            Node::Known(Value::F(x)) => Ok(x),
            other => Err(format!("{other:?} is no constant")),
        }
    }
}
