//! Where a checked run went wrong: what the outputs of checks say.

use sim_compiler::{
    artifact::Artifact,
    ir::{
        Owner,
        checks::{CheckKind, Moment, NUMBER, TIME, VALUES},
    },
    span::Span,
    value::{Shown, Value},
};

/// The first fault of a checked run: at the earliest moment; of that, in the lowest agent; and there, the
/// first one that the agent came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What is wrong.
    pub kind: CheckKind,
    /// Byte range in the source.
    pub span: Span,
    /// The agent; none in the code of worlds.
    pub agent: Option<u32>,
    /// The world, if the model has worlds.
    pub world: Option<u32>,
    /// When it was.
    pub moment: Moment,
    /// The values that the device had, as the kind says.
    pub values: Vec<FaultValue>,
}

/// A value at a fault.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultValue {
    /// Byte range in the source of what has the value.
    pub span: Span,
    /// Its name, if that is not what stands there.
    pub name: Option<String>,
    /// The value.
    pub value: Value,
}

impl Fault {
    /// What is wrong, in a sentence.
    pub fn message(&self) -> String {
        match &self.kind {
            CheckKind::Assertion { message } => format!("an assertion does not hold: {message}"),
            CheckKind::Index => format!(
                "an index is outside its array: {} of {} elements",
                self.value(0),
                self.value(1)
            ),
            CheckKind::Division if self.divides_by_zero() => {
                "an integer was divided by zero".to_owned()
            }
            CheckKind::Division => {
                format!("{} divided by {} is no i32", self.value(0), self.value(1))
            }
            CheckKind::NotFinite => match self.is_nan() {
                true => "a float became NaN".to_owned(),
                false => "a float became infinite".to_owned(),
            },
            CheckKind::Limit => "a `while` met its limit".to_owned(),
        }
    }

    /// Where and when, in words.
    pub fn occasion(&self) -> String {
        let who = match (self.agent, self.world) {
            (Some(agent), Some(world)) => format!("in agent {agent} of world {world}"),
            (Some(agent), None) => format!("in agent {agent}"),
            (None, Some(world)) => format!("in world {world}"),
            (None, None) => String::new(),
        };
        match self.moment {
            Moment::Launch => format!("{who}, where an input is computed"),
            Moment::Beginning => format!("{who}, before the first step"),
            Moment::Step(step) => format!("{who}, in step {step}"),
            Moment::Sample(0) => format!("{who}, in the sample before the first step"),
            Moment::Sample(1) => format!("{who}, in the sample after 1 step"),
            Moment::Sample(steps) => format!("{who}, in the sample after {steps} steps"),
            Moment::End => format!("{who}, after the last step"),
        }
    }

    /// Places in the source and what there is to say of them, that of the fault first.
    pub fn labels(&self) -> Vec<(Span, String)> {
        let own = match &self.kind {
            CheckKind::Assertion { .. } => "false".to_owned(),
            CheckKind::Index => self.value(0),
            CheckKind::Division => "divided".to_owned(),
            CheckKind::NotFinite => self.value(0),
            CheckKind::Limit => format!("not done after {} iterations", self.value(0)),
        };
        let mut labels = vec![(self.span, format!("{own} {}", self.occasion()))];
        let said = match self.kind {
            CheckKind::Index => 2,
            CheckKind::NotFinite | CheckKind::Limit => 1,
            CheckKind::Assertion { .. } | CheckKind::Division => 0,
        };
        for value in self.values.iter().skip(said) {
            let text = match &value.name {
                Some(name) => format!("{name} is {}", shown(value.value)),
                None => shown(value.value),
            };
            match labels.iter_mut().find(|(span, _)| *span == value.span) {
                Some((_, known)) => *known = format!("{known}; {text}"),
                None => labels.push((value.span, text)),
            }
        }
        labels
    }

    fn value(&self, number: usize) -> String {
        (self.values.get(number)).map_or_else(String::new, |value| shown(value.value))
    }

    fn divides_by_zero(&self) -> bool {
        matches!(self.values.get(1), Some(by) if by.value == Value::zero(by.value.ty()))
    }

    fn is_nan(&self) -> bool {
        let result = self.values.first();
        result.is_some_and(|result| result.value.floats().iter().any(|x| x.is_nan()))
    }
}

/// A value in a message.
fn shown(value: Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::I32(value) => value.to_string(),
        Value::U32(value) => value.to_string(),
        Value::F32(value) => Shown(value.into()).to_string(),
        Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_) => {
            let parts = value.floats().iter();
            let parts: Vec<String> = parts.map(|&part| Shown(part.into()).to_string()).collect();
            format!("({})", parts.join(", "))
        }
    }
}

/// Looks for the first fault in the results of a batch.
pub(crate) struct Watch<'a> {
    artifact: &'a Artifact,
    first_agent: u32,
    members: u32,
    found: Option<Fault>,
}

impl<'a> Watch<'a> {
    /// For runs that begin with this agent, and have worlds of so many members.
    pub(crate) fn new(artifact: &'a Artifact, first_agent: u32, members: u32) -> Watch<'a> {
        Watch {
            artifact,
            first_agent,
            members,
            found: None,
        }
    }

    /// Takes the outputs of checks off the outputs of the next run. Is there no fault so far?
    pub(crate) fn passes(&mut self, outputs: &mut Vec<Vec<u32>>) -> bool {
        let checks = &self.artifact.program.checks;
        let words = outputs.split_off(outputs.len() - checks.words.len());
        if self.found.is_none() && !words.is_empty() {
            self.found = self.first(&words);
        }
        self.found.is_none()
    }

    /// The fault of the first run that has one.
    pub(crate) fn into_found(self) -> Option<Fault> {
        self.found
    }

    fn first(&self, words: &[Vec<u32>]) -> Option<Fault> {
        let checks = &self.artifact.program.checks;
        let failed = (words[NUMBER].iter().zip(&words[TIME]).enumerate())
            .filter_map(|(at, (&number, &time))| Some((at, checks.failed(number)?, time)));
        let (at, check, time) =
            failed.min_by_key(|(at, check, time)| (check.moment(*time).order(), *at))?;
        let has_worlds = self.artifact.manifest.world.is_some();
        let agent = self.first_agent + at as u32;
        let values: Vec<u32> = words[VALUES..].iter().map(|word| word[at]).collect();
        let values = check.values(&values);
        Some(Fault {
            kind: check.kind.clone(),
            span: check.span,
            agent: (check.owner == Owner::Agent || !has_worlds).then_some(agent),
            world: has_worlds.then_some(agent / self.members),
            moment: check.moment(time),
            values: (check.values.iter().zip(values))
                .map(|(seen, value)| FaultValue {
                    span: seen.span,
                    name: Some(seen.name.clone()).filter(|name| !name.is_empty()),
                    value,
                })
                .collect(),
        })
    }
}
