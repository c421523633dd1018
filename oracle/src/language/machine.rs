//! Walks the typed tree: one world at a time, one agent of it at a time, one value at a time.

mod fold;
mod run;
mod sample;

pub use run::run;

use super::arithmetic;
use super::builtin;
use super::draw::{self, Words};
use super::typed::{Body, Field, Node, Over, Part, Place, Program, Root, Rounds, Step, Typed};
use super::value::{Structs, Ty, Value};
use std::collections::BTreeMap;

type Outcome<T> = Result<T, String>;

/// More statements and expressions than this, and the program is given up.
const BUDGET: u64 = 30_000_000;

/// How a statement ends.
#[derive(Debug, PartialEq)]
enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
    Stop,
}

/// What an agent or a world has.
#[derive(Clone, Debug)]
struct One {
    inputs: Vec<Value>,
    states: Vec<Value>,
    /// Per state that has been integrated: what it is, not rounded.
    sums: BTreeMap<usize, Vec<f64>>,
    words: Words,
    stopped: bool,
}

impl Default for One {
    fn default() -> One {
        One {
            inputs: Vec::new(),
            states: Vec::new(),
            sums: BTreeMap::new(),
            words: Words::new(0, 0, 0),
            stopped: false,
        }
    }
}

/// What is the same for all agents, a world, and the agent of it that runs.
struct Machine<'a> {
    functions: &'a [Body],
    structs: &'a Structs,
    params: Vec<Value>,
    data: Vec<Value>,
    world: One,
    me: One,
    /// The inputs of the world's agents.
    inputs_of: Vec<Vec<Value>>,
    /// Their states when the phase began; none where no agent may be read.
    states_of: Vec<Vec<Value>>,
    locals: Vec<Value>,
    /// The place of the agent in its world; none while the world itself runs.
    member: Option<u32>,
    /// The number of the world.
    number: u32,
    /// Agents of a world.
    size: u32,
    agents: i32,
    steps: i32,
    /// Why the pages do not say what comes out.
    open: Option<&'static str>,
    spent: u64,
}

/// A constant expression.
///
/// # Errors
/// What is not constant, and abstract arithmetic that is not exact.
pub fn constant(
    typed: &Typed,
    slots: usize,
    structs: &Structs,
    functions: &[Body],
) -> Outcome<Value> {
    let mut machine = Machine::new(functions, structs);
    machine.locals = vec![Value::B(false); slots];
    machine.value(typed)
}

impl<'a> Machine<'a> {
    fn new(functions: &'a [Body], structs: &'a Structs) -> Machine<'a> {
        Machine {
            functions,
            structs,
            params: Vec::new(),
            data: Vec::new(),
            world: One::default(),
            me: One::default(),
            inputs_of: Vec::new(),
            states_of: Vec::new(),
            locals: Vec::new(),
            member: None,
            number: 0,
            size: 1,
            agents: 0,
            steps: 0,
            open: None,
            spent: 0,
        }
    }

    fn spend(&mut self) -> Outcome<()> {
        self.spent += 1;
        match self.spent > BUDGET {
            true => Err("too long".into()),
            false => Ok(()),
        }
    }

    /// The one that runs.
    fn runner(&mut self) -> &mut One {
        match self.member {
            Some(_) => &mut self.me,
            None => &mut self.world,
        }
    }

    /// The number of an agent of the world in the population.
    fn agent(&self, member: u32) -> i32 {
        (self.number * self.size + member) as i32
    }

    /// What a name stands for.
    fn named(&self, node: &Node) -> Outcome<Value> {
        let of = |list: &[Value], k: usize| list.get(k).cloned().ok_or("not constant".to_owned());
        match node {
            Node::Known(value) => Ok(value.clone()),
            Node::Local(slot) => of(&self.locals, *slot),
            Node::State(k) => of(&self.me.states, *k),
            Node::WorldState(k) => of(&self.world.states, *k),
            Node::Param(k) => of(&self.params, *k),
            Node::Input(k) => of(&self.me.inputs, *k),
            Node::WorldInput(k) => of(&self.world.inputs, *k),
            Node::Data(k) => of(&self.data, *k),
            Node::Agent => Ok(Value::I(self.agent(self.member.ok_or("no agent runs")?))),
            Node::Member => Ok(Value::I(self.member.ok_or("no agent runs")? as i32)),
            Node::WorldNumber => Ok(Value::I(self.number as i32)),
            Node::WorldSize => Ok(Value::I(self.size as i32)),
            Node::Agents => Ok(Value::I(self.agents)),
            Node::Steps => Ok(Value::I(self.steps)),
            other => Err(format!("{other:?} is no name")),
        }
    }

    fn value(&mut self, typed: &Typed) -> Outcome<Value> {
        self.spend()?;
        Ok(match &typed.node {
            Node::Known(_)
            | Node::Local(_)
            | Node::State(_)
            | Node::WorldState(_)
            | Node::Param(_)
            | Node::Input(_)
            | Node::WorldInput(_)
            | Node::Data(_)
            | Node::Agent
            | Node::Member
            | Node::WorldNumber
            | Node::WorldSize
            | Node::Agents
            | Node::Steps => self.named(&typed.node)?,
            Node::At(index) => Value::I(self.place_of(index, self.size as usize)? as i32),
            Node::Of(agent, field) => self.of_agent(agent, *field)?,
            Node::Unary(operator, x) => arithmetic::unary(operator, self.value(x)?)?,
            Node::Binary(operator @ ("&&" | "||"), sides) => {
                let left = self.truth(&sides[0])?;
                if left == (*operator == "||") {
                    Value::B(left)
                } else {
                    self.value(&sides[1])?
                }
            }
            Node::Binary(operator, sides) => {
                let left = self.value(&sides[0])?;
                let right = self.value(&sides[1])?;
                arithmetic::binary(operator, left, right)?
            }
            Node::Power(x, n) => arithmetic::power(self.value(x)?, *n)?,
            Node::Index(sides) => self.index(&sides[0], &sides[1])?,
            Node::Field(base, k) => match self.value(base)? {
                Value::S(mut fields) => fields.swap_remove(*k),
                other => return Err(format!("a field of {other:?}")),
            },
            Node::Swizzle(base, places) => swizzle(&self.value(base)?, places)?,
            Node::Convert(x) => arithmetic::convert(self.value(x)?, &typed.ty)?,
            Node::Variant(x, count) => variant(&self.value(x)?, *count)?,
            Node::Bitcast(x) => arithmetic::bitcast(self.value(x)?, &typed.ty)?,
            Node::Vector(parts) => self.vector(parts)?,
            Node::Struct(fields) => Value::S(self.values(fields)?),
            Node::Builtin(name, arguments) => {
                let arguments = self.values(arguments)?;
                builtin::call(name, arguments, &mut self.open)?
            }
            Node::Draw(name, arguments) => {
                let arguments = self.values(arguments)?;
                draw::draw(name, &arguments, &mut self.runner().words)?
            }
            Node::Call(k, arguments) => self.call(*k, arguments)?,
            Node::List(elements) => Value::A(self.values(elements)?),
            Node::Repeat(x, count) => Value::A(vec![self.value(x)?; *count]),
            Node::Rounds(rounds) => Value::A(self.elements(rounds)?),
            Node::FoldRounds(name, rounds) => self.fold_rounds(name, rounds, &typed.ty)?,
            Node::FoldArray(name, array) => self.fold_array(name, array, &typed.ty)?,
            Node::Rows(array) => match self.value(array)? {
                Value::A(rows) => Value::I(rows.len() as i32),
                other => return Err(format!("rows of {other:?}")),
            },
            Node::If(branches) => match self.truth(&branches[0])? {
                true => self.value(&branches[1])?,
                false => self.value(&branches[2])?,
            },
        })
    }

    /// What is read of an agent of the world.
    fn of_agent(&mut self, agent: &Typed, field: Field) -> Outcome<Value> {
        let member = self.whole(agent)? as usize;
        let of = |lists: &[Vec<Value>], k: usize| {
            let list = lists.get(member).ok_or("agents are not read here")?;
            list.get(k).cloned().ok_or("no such field".to_owned())
        };
        match field {
            Field::State(k) => of(&self.states_of, k),
            Field::Input(k) => of(&self.inputs_of, k),
            Field::Member => Ok(Value::I(member as i32)),
            Field::Agent => Ok(Value::I(self.agent(member as u32))),
        }
    }

    /// The ends of a loop; agents of the world by their places.
    fn range(&mut self, over: &Over) -> Outcome<std::ops::Range<i32>> {
        Ok(match over {
            Over::Range(ends) => self.whole(&ends[0])?..self.whole(&ends[1])?,
            Over::World { .. } => 0..self.size as i32,
        })
    }

    fn vector(&mut self, parts: &[Typed]) -> Outcome<Value> {
        let mut components = Vec::new();
        for part in self.values(parts)? {
            match part {
                Value::F(x) => components.push(x),
                Value::V(more) => components.extend(more),
                other => return Err(format!("{other:?} in a vector")),
            }
        }
        Ok(Value::V(components))
    }

    fn values(&mut self, list: &[Typed]) -> Outcome<Vec<Value>> {
        list.iter().map(|typed| self.value(typed)).collect()
    }

    fn truth(&mut self, typed: &Typed) -> Outcome<bool> {
        match self.value(typed)? {
            Value::B(truth) => Ok(truth),
            other => Err(format!("{other:?} is no truth")),
        }
    }

    fn whole(&mut self, typed: &Typed) -> Outcome<i32> {
        match self.value(typed)? {
            Value::I(number) => Ok(number),
            Value::Whole(number) => i32::try_from(number).map_err(|error| error.to_string()),
            other => Err(format!("{other:?} is no i32")),
        }
    }

    /// Below 0 it means the first element, beyond the end the last.
    fn place_of(&mut self, index: &Typed, length: usize) -> Outcome<usize> {
        let last = length as i64 - 1;
        let index = match self.value(index)? {
            Value::I(index) => i64::from(index),
            Value::U(index) => i64::from(index),
            Value::Whole(index) => index,
            other => return Err(format!("{other:?} is no index")),
        };
        Ok(index.clamp(0, last) as usize)
    }

    fn index(&mut self, base: &Typed, index: &Typed) -> Outcome<Value> {
        let Value::A(mut elements) = self.value(base)? else {
            return Err("an index of no array".into());
        };
        let place = self.place_of(index, elements.len())?;
        Ok(elements.swap_remove(place))
    }

    /// Calls `each` with the index, whether the element was the first, and the element.
    fn rounds(
        &mut self,
        rounds: &Rounds,
        mut each: impl FnMut(&mut Self, i32, Value),
    ) -> Outcome<()> {
        for k in self.range(&rounds.over)? {
            self.spend()?;
            if self.locals.len() <= rounds.slot {
                self.locals.resize(rounds.slot + 1, Value::B(false));
            }
            self.locals[rounds.slot] = Value::I(k);
            let passes = match &rounds.filter {
                Some(filter) => self.truth(filter)?,
                None => true,
            };
            if passes {
                let value = self.value(&rounds.body)?;
                each(self, k, value);
            }
        }
        Ok(())
    }

    fn elements(&mut self, rounds: &Rounds) -> Outcome<Vec<Value>> {
        let mut elements = Vec::new();
        self.rounds(rounds, |_, _, value| elements.push(value))?;
        Ok(elements)
    }

    fn call(&mut self, number: usize, arguments: &[Typed]) -> Outcome<Value> {
        let mut locals = self.values(arguments)?;
        let body = self.functions.get(number).ok_or("no function here")?;
        locals.resize(body.slots.max(locals.len()), Value::B(false));
        let outside = std::mem::replace(&mut self.locals, locals);
        let flow = self.steps(&body.steps)?;
        self.locals = outside;
        match flow {
            Flow::Return(value) => Ok(value),
            other => Err(format!("a function ends with {other:?}")),
        }
    }

    fn steps(&mut self, steps: &[Step]) -> Outcome<Flow> {
        for step in steps {
            let flow = self.step(step)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn step(&mut self, step: &Step) -> Outcome<Flow> {
        self.spend()?;
        match step {
            Step::Let(slot, value) => self.locals[*slot] = self.value(value)?,
            Step::Assign(place, operator, value) => self.assign(place, *operator, value)?,
            Step::Equation(..) => return Err("an equation outside `integrate`".into()),
            Step::If(condition, yes, no) => {
                let chosen = if self.truth(condition)? { yes } else { no };
                return self.steps(chosen);
            }
            Step::For(slot, over, body) => {
                for k in self.range(over)? {
                    self.locals[*slot] = Value::I(k);
                    match self.round(body)? {
                        Flow::Break => break,
                        flow @ (Flow::Return(_) | Flow::Stop) => return Ok(flow),
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
            Step::While(condition, limit, body) => {
                for _ in 0..self.whole(limit)? {
                    if !self.truth(condition)? {
                        break;
                    }
                    match self.round(body)? {
                        Flow::Break => break,
                        flow @ (Flow::Return(_) | Flow::Stop) => return Ok(flow),
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
            Step::Match(value, arms) => {
                let value = self.value(value)?;
                let arm = arms
                    .iter()
                    .find(|(patterns, _)| patterns.is_empty() || patterns.contains(&value));
                let (_, body) = arm.ok_or("no arm")?;
                return self.steps(body);
            }
            Step::Integrate(method, size, body) => self.integrate(method, size, body)?,
            Step::Return(value) => return Ok(Flow::Return(self.value(value)?)),
            Step::Break => return Ok(Flow::Break),
            Step::Continue => return Ok(Flow::Continue),
            Step::Stop => return Ok(Flow::Stop),
            Step::Assert(condition, message) => {
                if !self.truth(condition)? {
                    return Err(format!("an assertion does not hold: {message}"));
                }
            }
            Step::Block(body) => return self.steps(body),
        }
        Ok(Flow::Next)
    }

    fn round(&mut self, body: &[Step]) -> Outcome<Flow> {
        self.spend()?;
        self.steps(body)
    }

    fn assign(
        &mut self,
        place: &Place,
        operator: Option<&'static str>,
        value: &Typed,
    ) -> Outcome<()> {
        // The indices first, once; then the value; then the place takes it as a whole.
        let mut path = Vec::new();
        let mut here = self.root(place)?.clone();
        for part in &place.path {
            let k = match (part, &here) {
                (Part::Element(index), Value::A(elements)) => {
                    let length = elements.len();
                    self.place_of(index, length)?
                }
                (Part::Field(k), Value::S(_)) => *k,
                (Part::Components(_), Value::V(_)) => break,
                (part, value) => return Err(format!("{part:?} of {value:?}")),
            };
            path.push(k);
            here = match here {
                Value::A(mut list) | Value::S(mut list) => list.swap_remove(k),
                other => other,
            };
        }
        let components = match place.path.last() {
            Some(Part::Components(components)) => Some(components),
            _ => None,
        };
        let mut new = self.value(value)?;
        if let Some(operator) = operator {
            let old = match components {
                Some(components) => swizzle(&here, components)?,
                None => here,
            };
            new = arithmetic::binary(operator, old, new)?;
        }
        let mut target = self.root(place)?;
        for k in path {
            target = match target {
                Value::A(list) | Value::S(list) => &mut list[k],
                other => return Err(format!("a part of {other:?}")),
            };
        }
        match (components, target, new) {
            (None, target, new) => *target = new,
            (Some(places), Value::V(old), Value::V(new)) => {
                for (place, x) in places.iter().zip(new) {
                    old[*place] = x;
                }
            }
            (Some(places), Value::V(old), Value::F(x)) => old[places[0]] = x,
            (_, target, new) => return Err(format!("{new:?} for components of {target:?}")),
        }
        Ok(())
    }

    fn root(&mut self, place: &Place) -> Outcome<&mut Value> {
        let found = match place.root {
            Root::Local(slot) => self.locals.get_mut(slot),
            Root::State(k) => self.me.states.get_mut(k),
            Root::WorldState(k) => self.world.states.get_mut(k),
        };
        found.ok_or("no such variable".into())
    }

    fn integrate(&mut self, method: &str, size: &Typed, body: &[Step]) -> Outcome<()> {
        let Value::F(h) = self.value(size)? else {
            return Err("a step that is no f32".into());
        };
        let old = self.me.states.clone();
        let stages: &[(f32, f32)] = match method {
            "euler" => &[(0.0, 1.0)],
            "midpoint" => &[(0.0, 0.0), (0.5, 1.0)],
            "heun" => &[(0.0, 0.5), (1.0, 0.5)],
            "rk4" => &[
                (0.0, 1.0 / 6.0),
                (0.5, 1.0 / 3.0),
                (0.5, 1.0 / 3.0),
                (1.0, 1.0 / 6.0),
            ],
            _ => return Err(format!("no method `{method}`")),
        };
        let mut slopes: Vec<(usize, Value)> = Vec::new();
        let mut increments: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (ahead, weight) in stages {
            self.me.states = old.clone();
            for (k, slope) in &slopes {
                self.me.states[*k] = advanced(&old[*k], h * ahead, slope)?;
            }
            slopes.clear();
            for step in body {
                match step {
                    Step::Equation(k, right) => {
                        let slope = self.value(right)?;
                        slopes.push((*k, slope));
                    }
                    other => {
                        self.step(other)?;
                    }
                }
            }
            for (k, slope) in &slopes {
                let more = increments.entry(*k).or_default();
                add_scaled(more, f64::from(h) * f64::from(*weight), slope)?;
            }
        }
        self.me.states = old;
        for (k, more) in increments {
            self.add_increment(k, &more)?;
        }
        Ok(())
    }

    /// A state that is integrated loses nothing that is added: here its sum is in double precision. It begins
    /// anew where the state has been assigned.
    fn add_increment(&mut self, state: usize, more: &[f64]) -> Outcome<()> {
        let now = components(&self.me.states[state])?;
        let sum = self.me.sums.entry(state).or_default();
        let rounded = sum.iter().map(|x| *x as f32);
        if !rounded.eq(now.iter().copied()) {
            *sum = now.iter().map(|x| f64::from(*x)).collect();
        }
        for (x, more) in sum.iter_mut().zip(more) {
            *x += more;
        }
        let new: Vec<f32> = sum.iter().map(|x| *x as f32).collect();
        self.me.states[state] = match new[..] {
            [x] => Value::F(x),
            _ => Value::V(new),
        };
        Ok(())
    }
}

/// The numbers of a float or a vector.
fn components(value: &Value) -> Outcome<Vec<f32>> {
    match value {
        Value::F(x) => Ok(vec![*x]),
        Value::V(components) => Ok(components.clone()),
        other => Err(format!("an equation for {other:?}")),
    }
}

fn add_scaled(sum: &mut Vec<f64>, factor: f64, slope: &Value) -> Outcome<()> {
    let slope = components(slope)?;
    sum.resize(slope.len(), 0.0);
    for (x, slope) in sum.iter_mut().zip(slope) {
        *x += factor * f64::from(slope);
    }
    Ok(())
}

/// x + h k
fn advanced(x: &Value, h: f32, slope: &Value) -> Outcome<Value> {
    let change = arithmetic::binary("*", Value::F(h), slope.clone())?;
    arithmetic::binary("+", x.clone(), change)
}

/// The variant of a number, of so many.
fn variant(number: &Value, count: usize) -> Outcome<Value> {
    let number = match number {
        Value::I(number) => i64::from(*number),
        Value::U(number) => i64::from(*number),
        other => return Err(format!("the variant numbered {other:?}")),
    };
    Ok(Value::E(number.clamp(0, count as i64 - 1) as u32))
}

fn swizzle(value: &Value, places: &[usize]) -> Outcome<Value> {
    let components = match value {
        Value::V(components) => components.clone(),
        Value::F(x) => vec![*x],
        other => return Err(format!("components of {other:?}")),
    };
    let taken: Vec<f32> = places.iter().map(|place| components[*place]).collect();
    Ok(match taken[..] {
        [x] => Value::F(x),
        _ => Value::V(taken),
    })
}
