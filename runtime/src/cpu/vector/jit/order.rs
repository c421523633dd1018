//! The order in which the values of a segment are computed: a list schedule (P. B. Gibbons and S. S.
//! Muchnick, "Efficient instruction scheduling for a pipelined architecture", 1986) that prefers what frees
//! registers where many are taken (J. R. Goodman and W. Hsu, "Code scheduling and register allocation in
//! large basic blocks", 1988).

use super::body::{Body, Node, One, Three, Two, Value};
use std::cmp::Reverse;

/// Vector operations that a processor begins in a cycle, about.
const PER_CYCLE: f32 = 2.5;
/// How many times as long as beginning its operations the longest chain of a body takes that waits for
/// latencies, though a processor reorders hundreds of operations. Bodies of more than 450 operations with 0.1
/// to 1.2 times as much take up to a tenth longer as two copies, and those with 1.4 to 2.7 times as much a
/// tenth to a third less (Sapphire Rapids; least of 6).
const WAITS: f32 = 1.25;
/// Values that are ordered together: each may be compared with all that are left, so the time grows with it.
const WINDOW: usize = 256;
/// The registers that the vectors of an iteration share: those of AVX2 without what operands take. More with
/// AVX-512 made no difference on Sapphire Rapids.
pub const REGISTERS: u32 = 14;

/// Cycles until a value is there, as Zen 3 and Golden Cove have it, rounded.
fn latency(node: Node) -> u32 {
    match node {
        Node::Register(..) | Node::Element(..) | Node::Scalar(_) | Node::Constant(_) => 0,
        Node::One(one, _) => match one {
            One::Sqrt => 15,
            One::Round | One::Floor | One::Ceil | One::Trunc => 6,
            One::FloatOfI | One::Truncate => 4,
            One::AbsI
            | One::ShiftLeft(_)
            | One::ShiftRight(_)
            | One::ShiftRightSigned(_)
            | One::LowToHigh
            | One::HighToLow => 1,
        },
        Node::Two(two, ..) => match two {
            Two::DivF => 11,
            Two::AddF | Two::SubF | Two::MulF => 4,
            Two::MulI | Two::WideProduct => 6,
            Two::EqF | Two::NeF | Two::LtF | Two::LeF | Two::Unordered => 3,
            Two::LesserF
            | Two::GreaterF
            | Two::And
            | Two::NotAnd
            | Two::Or
            | Two::Xor
            | Two::AddI
            | Two::SubI
            | Two::MinI
            | Two::MaxI
            | Two::MinU
            | Two::MaxU
            | Two::ShiftLeft
            | Two::ShiftRight
            | Two::ShiftRightSigned
            | Two::EqI
            | Two::GtI => 1,
        },
        Node::Three(three, _) => match three {
            Three::Fma => 4,
            Three::Select => 2,
            Three::Rare(_) => 1,
        },
    }
}

/// What is known of a value.
#[derive(Clone, Copy, Default)]
struct State {
    /// Cycles from its begin until all that depends on it is there.
    height: u32,
    /// Its users that are not in the order yet.
    users: u32,
    /// Its operands that are not.
    waits: u32,
    /// Its operands that are no leaves, each once; its own number where there are fewer.
    operands: [Value; 3],
    /// When its operands are there.
    ready: f32,
}

/// An order of the values of a body.
pub struct Order {
    /// Those that are there from the start, then all others, operands before their users.
    pub values: Vec<usize>,
    /// The register pressure: the most computed values that are alive at once; those that are only stored
    /// count to the end.
    pub live: u32,
}

impl Order {
    /// The order of the needed values in a loop over so many vectors at once.
    pub fn new(body: &Body, needed: &[bool], copies: u32) -> Order {
        let (mut values, others): (Vec<usize>, Vec<usize>) = (0..body.nodes.len())
            .filter(|&value| needed[value])
            .partition(|&value| body.nodes[value].is_leaf());
        let mut schedule = Schedule::new(body, &others);
        let step = copies as f32 / PER_CYCLE;
        let (mut now, mut live, mut most) = (0.0, 0, 0);
        for window in others.chunks(WINDOW) {
            schedule.open(window);
            while let Some(value) = schedule.next(now, live >= REGISTERS / copies) {
                live = live + 1 - schedule.freed(value);
                most = most.max(live);
                let begin = schedule.states[value].ready.max(now);
                now = begin + step;
                schedule.complete(value, begin + latency(body.nodes[value]) as f32);
                values.push(value);
            }
        }
        Order { values, live: most }
    }
}

/// Whether latencies bound the time of a vector by itself: the longest chain of operations that wait for one
/// another takes longer than it takes to begin all of them.
pub fn is_bound_by_latency(body: &Body, needed: &[bool]) -> bool {
    let is_computed = |&value: &usize| needed[value] && !body.nodes[value].is_leaf();
    let values: Vec<usize> = (0..body.nodes.len()).filter(is_computed).collect();
    let schedule = Schedule::new(body, &values);
    let chain = schedule.states.iter().map(|state| state.height).max();
    chain.unwrap_or(0) as f32 > WAITS * values.len() as f32 / PER_CYCLE
}

/// The values that are not in the order yet.
struct Schedule {
    states: Vec<State>,
    users: Vec<Vec<Value>>,
    /// Those of the window whose operands all are in the order.
    candidates: Vec<usize>,
    /// Where the window ends.
    end: usize,
}

impl Schedule {
    /// Of these values, operands before their users; all other operands are there.
    fn new(body: &Body, values: &[usize]) -> Schedule {
        let mut states = vec![State::default(); body.nodes.len()];
        let mut users = vec![Vec::new(); body.nodes.len()];
        for &value in values.iter().rev() {
            let node = body.nodes[value];
            let height = states[value].height + latency(node);
            let mut operands = [value as Value; 3];
            let (all, count) = node.operands();
            for (k, &operand) in all[..count].iter().enumerate() {
                let is_computed = !body.nodes[operand as usize].is_leaf();
                if is_computed && !all[..k].contains(&operand) {
                    operands[k] = operand;
                    let state = &mut states[operand as usize];
                    state.height = state.height.max(height);
                    state.users += 1;
                    users[operand as usize].push(value as Value);
                    states[value].waits += 1;
                }
            }
            states[value].height = height;
            states[value].operands = operands;
        }
        Schedule {
            states,
            users,
            candidates: Vec::new(),
            end: 0,
        }
    }

    /// Goes on with the next values of the body.
    fn open(&mut self, window: &[usize]) {
        self.end = window.last().map_or(0, |last| last + 1);
        let ready = window
            .iter()
            .filter(|&&value| self.states[value].waits == 0);
        self.candidates.extend(ready);
    }

    /// The value that comes next: if registers are short, one that frees some; else one that need not wait,
    /// of which most depends.
    fn next(&mut self, now: f32, is_full: bool) -> Option<usize> {
        let best = (0..self.candidates.len()).max_by_key(|&k| {
            let value = self.candidates[k];
            let State { ready, height, .. } = self.states[value];
            let waits = ((ready - now).max(0.0) * 4.0) as i64;
            let frees = is_full && self.freed(value) > 0;
            (frees, Reverse(waits), height, Reverse(value))
        });
        best.map(|k| self.candidates.swap_remove(k))
    }

    /// Puts a value, which will be there at that time, into the order.
    fn complete(&mut self, value: usize, done: f32) {
        for operand in self.states[value].operands {
            if operand as usize != value {
                self.states[operand as usize].users -= 1;
            }
        }
        for user in std::mem::take(&mut self.users[value]) {
            let state = &mut self.states[user as usize];
            state.ready = state.ready.max(done);
            state.waits -= 1;
            if state.waits == 0 && (user as usize) < self.end {
                self.candidates.push(user as usize);
            }
        }
    }

    /// How many registers a value frees: those of operands that nothing else needs.
    fn freed(&self, value: usize) -> u32 {
        let operands = self.states[value].operands;
        let freed = |&operand: &Value| {
            operand as usize != value && self.states[operand as usize].users == 1
        };
        operands.iter().filter(|operand| freed(operand)).count() as u32
    }
}
