//! Groups whose arrays are also read at indices that are not a loop's own: what another lane has is read by a
//! shuffle, as the next layer of a network reads the units of the one before it.
//!
//! An array can be split if all that is written to it is written at the own index of loops that are split. It
//! is read at the own index of such a loop or near it, or at an index that is the same for all lanes of the
//! agent, where all of them get to; not in a loop that writes it, since other lanes are at other iterations.

use crate::{
    ir::{
        VarId,
        cost::instructions::{LOAD, SHUFFLE},
    },
    kernel::lanes::{
        accesses::{Access, Form},
        survey::{Group, Survey},
    },
};
use std::collections::{BTreeMap, BTreeSet};

/// Attempts, each of which leaves out what the one before could not split beside the rest. Beyond that
/// nothing is split, so that models of thousands of loops compile in time.
const ATTEMPTS: u32 = 16;
/// Iterations of loops that are surely unrolled, so that it is known which lane is asked.
const UNROLLED: f64 = 64.0;

impl Survey {
    /// The groups over this many lanes with at least one shuffle.
    pub(crate) fn shuffled(&self, lanes: u32) -> Vec<Group> {
        let mut attempt = Attempt {
            survey: self,
            lanes,
            arrays: self.accesses.iter().map(|access| access.array).collect(),
            barred: BTreeSet::new(),
            writes: BTreeMap::new(),
        };
        for access in self.accesses.iter().filter(|access| access.writes) {
            let writes = attempt.writes.entry(access.array).or_default();
            writes.accesses.push(access);
            writes.around.extend(&access.around);
        }
        for _ in 0..ATTEMPTS {
            let split = attempt.split();
            if !attempt.excludes(&split) {
                return attempt.groups(&split);
            }
        }
        Vec::new()
    }
}

/// What might be split: less in each attempt.
struct Attempt<'a> {
    survey: &'a Survey,
    lanes: u32,
    arrays: BTreeSet<VarId>,
    /// Loops that cannot be split.
    barred: BTreeSet<usize>,
    /// By array.
    writes: BTreeMap<VarId, Writes<'a>>,
}

/// What writes an array.
#[derive(Default)]
struct Writes<'a> {
    accesses: Vec<&'a Access>,
    /// All loops around them.
    around: BTreeSet<usize>,
}

/// What is split.
struct Split {
    forms: BTreeMap<VarId, Form>,
    loops: BTreeSet<usize>,
    /// The loops around these.
    around: BTreeSet<usize>,
}

impl Split {
    /// The loop at whose own index an element is accessed.
    fn owner(&self, survey: &Survey, access: &Access) -> Option<usize> {
        let form = self.forms.get(&access.array)?;
        let mut inner = access.inner().iter().copied();
        inner.find(|at| self.loops.contains(at) && survey.form(access, *at) == Some(*form))
    }

    /// The loop near whose own index an element is read.
    fn neighbour(&self, survey: &Survey, access: &Access) -> Option<usize> {
        let form = self.forms.get(&access.array)?;
        let near = survey.neighbour(access, *form)?;
        self.loops.contains(&near).then_some(near)
    }

    /// Is a loop inside one of these, or one of these inside it?
    fn nests(&self, survey: &Survey, at: usize) -> bool {
        let mut around = survey.loops[at].around.iter();
        self.around.contains(&at) || around.any(|other| self.loops.contains(other))
    }

    fn insert(&mut self, survey: &Survey, at: usize) {
        if self.loops.insert(at) {
            self.around.extend(&survey.loops[at].around);
        }
    }
}

impl Attempt<'_> {
    /// The forms of the arrays and the loops that give them their elements.
    fn split(&self) -> Split {
        let mut split = Split {
            forms: BTreeMap::new(),
            loops: BTreeSet::new(),
            around: BTreeSet::new(),
        };
        for &array in &self.arrays {
            if let Some(form) = self.form(array) {
                split.forms.insert(array, form);
            }
        }
        let survey = self.survey;
        for writes in [true, false] {
            for access in &survey.accesses {
                let Some(form) = split.forms.get(&access.array) else {
                    continue;
                };
                let owner = self.owner(access, *form);
                let owner = owner.or_else(|| {
                    let near = survey.neighbour(access, *form);
                    near.filter(|at| !access.writes && self.is_open(*at))
                });
                if access.writes == writes
                    && let Some(at) = owner
                    && (writes || !split.nests(survey, at))
                {
                    split.insert(survey, at);
                }
            }
        }
        split
    }

    /// The form that all writes to an array allow: of several, that of the loops with the most work.
    fn form(&self, array: VarId) -> Option<Form> {
        let survey = self.survey;
        let mut writes = self.writes.get(&array)?.accesses.iter();
        let forms = |access: &Access| -> BTreeMap<Form, f64> {
            let inner = access.inner().iter().filter(|at| self.is_open(**at));
            let forms = inner.filter_map(|&at| {
                let known = &survey.loops[at];
                let work = known.runs * known.nodes * f64::from(known.iterations);
                Some((survey.form(access, at)?, work))
            });
            forms.collect()
        };
        let mut common = forms(writes.next()?);
        for access in writes {
            let other = forms(access);
            common.retain(|form, _| other.contains_key(form));
            for (form, work) in other {
                common.entry(form).and_modify(|all| *all += work);
            }
        }
        let best = common.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        best.map(|(form, _)| form)
    }

    /// The outermost loop at whose own index an element of an array of this form is accessed.
    fn owner(&self, access: &Access, form: Form) -> Option<usize> {
        let mut inner = access.inner().iter().copied();
        inner.find(|at| self.is_open(*at) && self.survey.form(access, *at) == Some(form))
    }

    /// Can a loop be split, as far as is known?
    fn is_open(&self, at: usize) -> bool {
        let known = &self.survey.loops[at];
        known.fits && known.iterations.is_multiple_of(self.lanes) && !self.barred.contains(&at)
    }

    /// Takes out what cannot be split; was there any?
    fn excludes(&mut self, split: &Split) -> bool {
        let survey = self.survey;
        let before = (self.arrays.len(), self.barred.len());
        self.arrays.retain(|array| split.forms.contains_key(array));
        let inside = |at: usize| {
            survey.loops[at]
                .around
                .iter()
                .any(|b| split.loops.contains(b))
        };
        for access in &survey.accesses {
            let owner = split.owner(survey, access);
            if access.writes {
                if owner.is_none_or(inside) {
                    self.arrays.remove(&access.array);
                }
                // All lanes must have the same for what is not split.
                let mut inner = access.inner().iter();
                let is_split = split.forms.contains_key(&access.array);
                if !is_split && let Some(at) = inner.find(|at| split.loops.contains(at)) {
                    self.barred.insert(*at);
                }
            } else if owner.is_none() && !self.may_shuffle(split, access) {
                self.arrays.remove(&access.array);
            }
        }
        before != (self.arrays.len(), self.barred.len())
    }

    /// Can all lanes read an element together?
    fn may_shuffle(&self, split: &Split, access: &Access) -> bool {
        let survey = self.survey;
        let writes = self.writes.get(&access.array);
        let written = |at: &usize| writes.is_some_and(|writes| writes.around.contains(at));
        if let (Some(at), Some(shift)) = (split.neighbour(survey, access), access.shift) {
            let each = i64::from(survey.loops[at].iterations / self.lanes);
            return shift.by.abs() <= each && !written(&at);
        }
        let Some(control) = &access.control else {
            return false;
        };
        let mut depends = access.varies.iter().chain(control);
        let mut inner = access.inner().iter().filter(|at| split.loops.contains(at));
        !depends.any(|at| split.loops.contains(at)) && !inner.any(written)
    }

    /// The groups, of those with shuffles.
    fn groups(&self, split: &Split) -> Vec<Group> {
        let survey = self.survey;
        let links = survey.accesses.iter().filter_map(|access| {
            let owner = split.owner(survey, access);
            let owner = owner.or_else(|| split.neighbour(survey, access))?;
            Some((access.array, split.forms[&access.array], owner))
        });
        let mut groups = survey.joined(split.loops.iter().copied(), links);
        let mut group_of = BTreeMap::new();
        for (at, group) in groups.iter().enumerate() {
            group_of.extend(group.arrays.iter().map(|(array, _)| (*array, at)));
        }
        for (at, access) in survey.accesses.iter().enumerate() {
            if split.owner(survey, access).is_none()
                && let Some(group) = group_of.get(&access.array)
            {
                let instructions = self.instructions(split, access);
                groups[*group].shuffles.push((at, instructions));
            }
        }
        groups.retain(|group| !group.shuffles.is_empty());
        groups
    }

    /// The instructions of a lane that the shuffles of a read take per step.
    fn instructions(&self, split: &Split, access: &Access) -> f64 {
        let survey = self.survey;
        let iterations = |at: usize| f64::from(survey.loops[at].iterations);
        if let (Some(at), Some(shift)) = (split.neighbour(survey, access), access.shift) {
            // Only at the ends of a lane's part.
            return f64::from(SHUFFLE) * shift.by.abs() as f64 * access.runs / iterations(at);
        }
        let is_shared = access.around.iter().any(|at| split.loops.contains(at));
        let shared = if is_shared {
            f64::from(self.lanes)
        } else {
            1.0
        };
        let known: f64 = access.varies.iter().map(|at| iterations(*at)).product();
        let each = if known <= UNROLLED { LOAD } else { SHUFFLE };
        f64::from(each) * access.runs / shared
    }
}

impl Survey {
    /// The form in which the element belongs to an iteration of a loop.
    pub(crate) fn form(&self, access: &Access, at: usize) -> Option<Form> {
        let known = &self.loops[at];
        let sum = access.sum.as_ref()?;
        sum.form(known.index, known.iterations, access.elements?)
    }

    /// The loop over all elements near whose index an element is read.
    pub(crate) fn neighbour(&self, access: &Access, form: Form) -> Option<usize> {
        let own = access.shift?.own;
        let mut inner = access.inner().iter().copied();
        let at = inner.find(|at| self.loops[*at].index == own)?;
        (form == Form::plain(self.loops[at].iterations)).then_some(at)
    }
}
