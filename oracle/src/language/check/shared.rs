//! What is of the world: docs/language.md, "Folds over a world".

use super::super::typed::{Body, Node, Over, Part, Rounds, Step, Typed};
use super::Checker;

impl Checker<'_> {
    /// Does a fold over the world of these elements stand in world code, outside the elements of any other,
    /// or does it name only what is of the world?
    pub(super) fn fold_is_shared(&self, rounds: &Rounds) -> bool {
        let Over::World { .. } = rounds.over else {
            return false;
        };
        let mut parts = vec![&rounds.body];
        parts.extend(&rounds.filter);
        let outermost = self.in_world && self.folds == 0;
        outermost || self.are_shared(&parts, vec![rounds.slot])
    }

    /// Is the value of a `let` of the world?
    pub(super) fn is_shared(&self, value: &Typed) -> bool {
        self.are_shared(&[value], Vec::new())
    }

    /// Do these name only what is of the world, and indices of their own?
    fn are_shared(&self, parts: &[&Typed], mut indices: Vec<usize>) -> bool {
        let mut collect = |node: &Node| {
            if let Node::Rounds(rounds) | Node::FoldRounds(_, rounds) = node {
                indices.push(rounds.slot);
            }
            false
        };
        for part in parts {
            any(part, &mut collect);
        }
        let mut own = |node: &Node| match node {
            Node::Local(slot) => !indices.contains(slot) && !self.shared.contains(slot),
            other => is_own(other, &self.own),
        };
        !parts.iter().any(|part| any(part, &mut own))
    }
}

/// Has this what only an agent has? Locals are not looked at.
fn is_own(node: &Node, functions: &[bool]) -> bool {
    match node {
        Node::State(_) | Node::Input(_) | Node::Agent | Node::Member | Node::Draw(..) => true,
        Node::Call(k, _) => functions.get(*k).copied().unwrap_or(true),
        _ => false,
    }
}

/// Per function, whether it or one that it calls draws, or reads an input of agents, `agent` or `member`.
pub(super) fn functions(bodies: &[Body]) -> Vec<bool> {
    let mut own = vec![false; bodies.len()];
    loop {
        let test = |body: &Body| any_step(&body.steps, &mut |node| is_own(node, &own));
        let next: Vec<bool> = bodies.iter().map(test).collect();
        if next == own {
            return own;
        }
        own = next;
    }
}

type Test<'a> = dyn FnMut(&Node) -> bool + 'a;

fn any(typed: &Typed, test: &mut Test) -> bool {
    test(&typed.node) || parts(&typed.node).into_iter().any(|part| any(part, test))
}

fn any_step(steps: &[Step], test: &mut Test) -> bool {
    steps.iter().any(|step| {
        let (values, blocks) = step_parts(step);
        values.into_iter().any(|value| any(value, test))
            || blocks.into_iter().any(|block| any_step(block, test))
    })
}

fn of_over(over: &Over) -> Vec<&Typed> {
    match over {
        Over::Range(ends) => ends.iter().collect(),
        Over::World { .. } => Vec::new(),
    }
}

fn parts(node: &Node) -> Vec<&Typed> {
    match node {
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
        | Node::Steps => Vec::new(),
        Node::At(x)
        | Node::Of(x, _)
        | Node::Unary(_, x)
        | Node::Power(x, _)
        | Node::Field(x, _)
        | Node::Swizzle(x, _)
        | Node::Convert(x)
        | Node::Variant(x, _)
        | Node::Bitcast(x)
        | Node::Repeat(x, _)
        | Node::FoldArray(_, x)
        | Node::Rows(x) => vec![x],
        Node::Binary(_, sides) | Node::Index(sides) => sides.iter().collect(),
        Node::Vector(list)
        | Node::Struct(list)
        | Node::Builtin(_, list)
        | Node::Draw(_, list)
        | Node::Call(_, list)
        | Node::List(list) => list.iter().collect(),
        Node::Rounds(rounds) | Node::FoldRounds(_, rounds) => {
            let mut all = of_over(&rounds.over);
            all.extend(&rounds.filter);
            all.push(&rounds.body);
            all
        }
        Node::If(branches) => branches.iter().collect(),
    }
}

/// The values and the blocks of a statement.
fn step_parts(step: &Step) -> (Vec<&Typed>, Vec<&[Step]>) {
    match step {
        Step::Let(_, value) | Step::Equation(_, value) | Step::Return(value) => {
            (vec![value], Vec::new())
        }
        Step::Assign(place, _, value) => {
            let mut values: Vec<&Typed> = Vec::new();
            for part in &place.path {
                match part {
                    Part::Element(index) => values.push(index),
                    Part::Field(_) | Part::Components(_) => {}
                }
            }
            values.push(value);
            (values, Vec::new())
        }
        Step::If(condition, yes, no) => (vec![condition], vec![yes, no]),
        Step::For(_, over, body) => (of_over(over), vec![body]),
        Step::While(condition, limit, body) => (vec![condition, limit], vec![body]),
        Step::Match(value, arms) => {
            let blocks = arms.iter().map(|(_, body)| body.as_slice()).collect();
            (vec![value], blocks)
        }
        Step::Integrate(_, size, body) => (vec![size], vec![body]),
        Step::Assert(condition, _) => (vec![condition], Vec::new()),
        Step::Break | Step::Continue | Step::Stop => (Vec::new(), Vec::new()),
        Step::Block(body) => (Vec::new(), vec![body]),
    }
}
