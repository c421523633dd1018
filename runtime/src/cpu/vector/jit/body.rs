//! The values of a segment: what each is computed from, in an order in which operands come first.
//!
//! A value that is computed twice is there once. Nothing here rounds otherwise than the instructions from
//! which a segment is made: no operation is contracted or reassociated.

use super::{
    encode::width,
    order::{Order, REGISTERS, is_bound_by_latency},
    rare::Rare,
};
use crate::cpu::vector::{
    isa::Isa,
    kernel::GROUP,
    program::{AgentArray, Register, Slot},
};
use rustc_hash::FxHashMap;

/// Operations of a vector before those of the next, where several are interleaved.
const TOGETHER: usize = 4;
/// The most operations of which four vectors are interleaved, if no more than [`REGISTERS`] values are alive
/// at once. Measured with one, two and four copies in thirteen examples on Zen 3: more copies of larger
/// bodies spill more registers. With AVX-512 on Sapphire Rapids they differ little.
const FEW: usize = 160;
/// The most operations of which two are; of more, if latencies bound them ([`is_bound_by_latency`]).
const SOME: usize = 450;

/// A value by its place in [`Body::nodes`].
pub type Value = u32;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A register of the machine, as it was when the segment began: in a loop over several vectors at once,
    /// that vector of it.
    Register(Register, u32),
    /// The element of an array that a scalar says: an index of [`Body::elements`], and the vector as above.
    Element(u32, u32),
    /// A scalar, in all lanes.
    Scalar(Slot),
    /// A constant, in all lanes.
    Constant(u32),
    /// An operation on one value.
    One(One, Value),
    /// An operation on two values.
    Two(Two, Value, Value),
    /// An operation on three values.
    Three(Three, [Value; 3]),
}

/// Operations on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum One {
    /// The square root.
    Sqrt,
    /// To the nearest whole number, ties to even.
    Round,
    /// To the next whole number below.
    Floor,
    /// To the next whole number above.
    Ceil,
    /// To the next whole number towards zero.
    Trunc,
    /// The nearest float of an `i32`.
    FloatOfI,
    /// The `i32` to which a float truncates; for those that are none, the smallest.
    Truncate,
    /// The magnitude of an `i32`; the smallest stays.
    AbsI,
    /// A shift to the left.
    ShiftLeft(u8),
    /// A shift to the right that fills with zeros.
    ShiftRight(u8),
    /// A shift to the right that fills with the sign.
    ShiftRightSigned(u8),
    /// The low half of each 64 bits in place of the high half, which is lost.
    LowToHigh,
    /// The high half of each 64 bits in place of the low half; the high half is zero.
    HighToLow,
}

/// Operations on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Two {
    /// `a + b` of floats.
    AddF,
    /// `a - b` of floats.
    SubF,
    /// `a * b` of floats.
    MulF,
    /// `a / b` of floats.
    DivF,
    /// `a` if `a < b`, else `b`.
    LesserF,
    /// `a` if `a > b`, else `b`.
    GreaterF,
    /// `a & b`
    And,
    /// `!a & b`
    NotAnd,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
    /// `a + b` of integers.
    AddI,
    /// `a - b` of integers.
    SubI,
    /// `a * b` of integers.
    MulI,
    /// The smaller `i32`.
    MinI,
    /// The larger `i32`.
    MaxI,
    /// The smaller `u32`.
    MinU,
    /// The larger `u32`.
    MaxU,
    /// The products of 64 bits of every second word, from the first.
    WideProduct,
    /// `a << b`, for `b` below 32.
    ShiftLeft,
    /// `a >> b` of a `u32`, for `b` below 32.
    ShiftRight,
    /// `a >> b` of an `i32`, for `b` below 32.
    ShiftRightSigned,
    /// `a == b` of integers: all ones or all zeros.
    EqI,
    /// `a > b` of `i32`s.
    GtI,
    /// `a == b` of floats.
    EqF,
    /// `a != b` of floats, also where one is NaN.
    NeF,
    /// `a < b` of floats.
    LtF,
    /// `a <= b` of floats.
    LeF,
    /// Is one of the floats NaN?
    Unordered,
}

impl Two {
    /// May the operands be exchanged? For sums and products of floats, too: only the bits of a NaN differ.
    pub fn commutes(self) -> bool {
        use Two::*;
        match self {
            AddF | MulF | And | Or | Xor | AddI | MulI | MinI | MaxI | MinU | MaxU
            | WideProduct | EqI | EqF | NeF | Unordered => true,
            SubF | DivF | LesserF | GreaterF | NotAnd | SubI | ShiftLeft | ShiftRight
            | ShiftRightSigned | GtI | LtF | LeF => false,
        }
    }

    /// Is the result all ones or all zeros by a comparison?
    pub fn compares(self) -> bool {
        use Two::*;
        match self {
            EqI | GtI | EqF | NeF | LtF | LeF | Unordered => true,
            AddF | SubF | MulF | DivF | LesserF | GreaterF | And | NotAnd | Or | Xor | AddI
            | SubI | MulI | MinI | MaxI | MinU | MaxU | WideProduct | ShiftLeft | ShiftRight
            | ShiftRightSigned => false,
        }
    }
}

/// Operations on three values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Three {
    /// `a * b + c`, rounded once.
    Fma,
    /// `b` where the mask `a` is all ones, `c` where it is all zeros.
    Select,
    /// `b` where the mask `a` is all zeros, the function of `c` where it is all ones, which is rare: a slow
    /// path beside the loop calls it.
    Rare(Rare),
}

/// The values of a segment.
#[derive(Debug, Default)]
pub struct Body {
    /// Operands before their users.
    pub nodes: Vec<Node>,
    /// Elements of arrays, by their array and the scalar that is their index.
    pub elements: Vec<(AgentArray, Slot)>,
    /// What an element is set to at the end, after all else: an index of `elements`, and the value.
    pub put: Option<(u32, Value)>,
    known: FxHashMap<Node, Value>,
    /// By register of the machine: its value at the end.
    current: FxHashMap<Register, Value>,
    /// The registers that are written, in the order of their first write.
    written: Vec<Register>,
}

impl Body {
    /// The value of a node.
    pub fn value(&mut self, node: Node) -> Value {
        let nodes = &mut self.nodes;
        *self.known.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() as Value - 1
        })
    }

    /// What a register of the machine holds now.
    pub fn read(&mut self, register: Register) -> Value {
        match self.current.get(&register) {
            Some(&value) => value,
            None => self.value(Node::Register(register, 0)),
        }
    }

    /// The index of an element among those of the body.
    fn number(&mut self, array: AgentArray, index: Slot) -> u32 {
        let known = self.elements.iter().position(|&it| it == (array, index));
        let number = known.unwrap_or_else(|| {
            self.elements.push((array, index));
            self.elements.len() - 1
        });
        number as u32
    }

    /// What an element of an array was when the segment began.
    pub fn element(&mut self, array: AgentArray, index: Slot) -> Value {
        let number = self.number(array, index);
        self.value(Node::Element(number, 0))
    }

    /// Sets an element of an array, as the last thing of all.
    pub fn put(&mut self, array: AgentArray, index: Slot, value: Value) {
        self.put = Some((self.number(array, index), value));
    }

    /// Has a register of an array been set?
    pub fn sets(&self, array: AgentArray) -> bool {
        self.written.iter().any(|&register| array.holds(register))
    }

    /// Can a register be that of an element that is read or set?
    pub fn may_read(&self, register: Register) -> bool {
        (self.elements.iter()).any(|(array, _)| array.holds(register))
    }

    /// Sets a register of the machine.
    pub fn write(&mut self, register: Register, value: Value) {
        if self.current.insert(register, value).is_none() {
            self.written.push(register);
        }
    }

    /// The registers that are written, with their values at the end. Without those that keep what they had.
    pub fn writes(&self) -> impl Iterator<Item = (Register, Value)> {
        (self.written.iter())
            .map(|&register| (register, self.current[&register]))
            .filter(|&(register, value)| self.nodes[value as usize] != Node::Register(register, 0))
    }

    /// The bits of a value that is a constant.
    pub fn constant_of(&self, value: Value) -> Option<u32> {
        match self.nodes[value as usize] {
            Node::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    /// A constant by its bits.
    pub fn bits(&mut self, bits: u32) -> Value {
        self.value(Node::Constant(bits))
    }

    /// A constant.
    pub fn float(&mut self, x: f32) -> Value {
        self.bits(x.to_bits())
    }

    /// An operation on one value.
    pub fn one(&mut self, one: One, a: Value) -> Value {
        self.value(Node::One(one, a))
    }

    /// An operation on two values.
    pub fn two(&mut self, two: Two, a: Value, b: Value) -> Value {
        let constants = (self.constant_of(a), self.constant_of(b));
        if let (Two::Xor, (Some(a), Some(b))) = (two, constants) {
            return self.bits(a ^ b);
        }
        self.value(Node::Two(two, a, b))
    }

    /// `a * b + c`, rounded once.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.value(Node::Three(Three::Fma, [a, b, c]))
    }

    /// `b`, but the function of `c` where the mask `a` is all ones.
    pub fn rare(&mut self, rare: Rare, a: Value, b: Value, c: Value) -> Value {
        self.value(Node::Three(Three::Rare(rare), [a, b, c]))
    }

    /// `b` where the mask `a` is all ones, else `c`.
    pub fn select(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.value(Node::Three(Three::Select, [a, b, c]))
    }
}

impl Node {
    /// Its operands.
    pub fn operands(self) -> ([Value; 3], usize) {
        match self {
            Node::Register(..) | Node::Element(..) | Node::Scalar(_) | Node::Constant(_) => {
                ([0; 3], 0)
            }
            Node::One(_, a) => ([a, 0, 0], 1),
            Node::Two(_, a, b) => ([a, b, 0], 2),
            Node::Three(_, all) => (all, 3),
        }
    }

    /// The same of other operands.
    fn of(self, operand: impl Fn(Value) -> Value) -> Node {
        match self {
            Node::Register(..) | Node::Element(..) | Node::Scalar(_) | Node::Constant(_) => self,
            Node::One(one, a) => Node::One(one, operand(a)),
            Node::Two(two, a, b) => Node::Two(two, operand(a), operand(b)),
            Node::Three(three, all) => Node::Three(three, all.map(operand)),
        }
    }

    /// Is it there from the start?
    pub fn is_leaf(self) -> bool {
        self.operands().1 == 0
    }
}

/// By value: whether one that is stored needs it.
fn needed(body: &Body, stores: &[(Register, Value)]) -> Vec<bool> {
    let mut needed = vec![false; body.nodes.len()];
    let put = body.put.iter().map(|&(_, value)| value);
    for value in stores.iter().map(|&(_, value)| value).chain(put) {
        needed[value as usize] = true;
    }
    for value in (0..needed.len()).rev() {
        if needed[value] {
            let (operands, count) = body.nodes[value].operands();
            operands[..count]
                .iter()
                .for_each(|&it| needed[it as usize] = true);
        }
    }
    needed
}

/// Where a value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// In a register of the machine.
    Register(Register),
    /// In an element of an array, by its index in [`Loop::elements`]; after all else.
    Element(u32),
}

/// A value that is stored in a register of the machine, in that vector of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// The register, or the element whose register it is.
    pub to: Destination,
    /// The vector.
    pub copy: u32,
    /// The value.
    pub value: Value,
}

/// The values of a loop that computes several vectors side by side, some operations of one and then of the
/// next: so the processor has others to go on with where one waits for another.
#[derive(Debug)]
pub struct Loop {
    /// Operands before their users; without those that nothing needs.
    pub nodes: Vec<Node>,
    /// As in the body.
    pub elements: Vec<(AgentArray, Slot)>,
    /// What is stored.
    pub stores: Vec<Store>,
    /// Vectors of an iteration.
    pub copies: u32,
}

impl Loop {
    /// The loops that store these values, over as many vectors at once as suits their number; if a group of
    /// lanes has fewer, a second one runs the rest.
    pub fn all(body: &Body, stores: &[(Register, Value)], isa: Isa) -> Vec<Loop> {
        let needed = needed(body, stores);
        let is_computed = |&value: &usize| needed[value] && !body.nodes[value].is_leaf();
        let operations = (0..body.nodes.len()).filter(is_computed).count();
        let four = (operations <= FEW).then(|| Order::new(body, &needed, 4));
        let four = four.filter(|order| order.live <= REGISTERS);
        let (order, copies) = match four {
            Some(order) => (order, 4),
            None if operations <= SOME || is_bound_by_latency(body, &needed) => {
                (Order::new(body, &needed, 2), 2)
            }
            None => (Order::new(body, &needed, 1), 1),
        };
        let most = (GROUP * size_of::<u32>()) as u32 / width(isa);
        let loops = [Some(copies), (copies > most).then_some(most)];
        (loops.into_iter().flatten())
            .map(|copies| Loop::of(body, stores, &order, copies))
            .collect()
    }

    /// The same over so many vectors.
    pub fn with_copies(body: &Body, stores: &[(Register, Value)], copies: u32) -> Loop {
        let order = Order::new(body, &needed(body, stores), copies);
        Loop::of(body, stores, &order, copies)
    }

    fn of(body: &Body, stores: &[(Register, Value)], order: &Order, copies: u32) -> Loop {
        let count = body.nodes.len();
        let mut nodes = Vec::new();
        // By copy and value of the body: its place in the loop.
        let mut places = vec![vec![0; count]; copies as usize];
        for some in order.values.chunks(TOGETHER) {
            for copy in 0..copies {
                for &value in some {
                    let node = body.nodes[value];
                    let shared = matches!(node, Node::Scalar(_) | Node::Constant(_));
                    places[copy as usize][value] = match copy {
                        1.. if shared => places[0][value],
                        _ => {
                            nodes.push(match node {
                                Node::Register(register, _) => Node::Register(register, copy),
                                Node::Element(number, _) => Node::Element(number, copy),
                                _ => node.of(|it| places[copy as usize][it as usize]),
                            });
                            nodes.len() as Value - 1
                        }
                    };
                }
            }
        }
        let stores = stores
            .iter()
            .map(|&(register, value)| (Destination::Register(register), value));
        let put = (body.put.iter()).map(|&(number, value)| (Destination::Element(number), value));
        let stores: Vec<(Destination, Value)> = stores.chain(put).collect();
        let stores = (0..copies).flat_map(|copy| {
            let place = &places[copy as usize];
            stores.iter().map(move |&(to, value)| Store {
                to,
                copy,
                value: place[value as usize],
            })
        });
        Loop {
            nodes,
            elements: body.elements.clone(),
            stores: stores.collect(),
            copies,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The copies of a body with so many additions in one chain, and as many beside one another.
    fn copies_of(chain: usize, beside: usize) -> u32 {
        let mut body = Body::default();
        let (first, more) = (body.read(1), body.read(2));
        let last = (0..chain).fold(first, |sum, _| body.two(Two::AddF, sum, more));
        let mut stores = vec![(3, last)];
        for k in 0..beside {
            let number = body.bits(k as u32);
            let sum = body.two(Two::AddF, first, number);
            stores.push((4 + k as Register, sum));
        }
        let [all, ..] = &Loop::all(&body, &stores, Isa::Avx2)[..] else {
            panic!("no loop");
        };
        all.copies
    }

    #[test]
    fn large_bodies_are_interleaved_where_latencies_bound_them() {
        assert_eq!(copies_of(2 * SOME, 0), 2);
        assert_eq!(copies_of(2 * SOME, SOME), 2);
        assert_eq!(copies_of(1, 3 * SOME), 1);
        assert_eq!(copies_of(SOME / 4, 3 * SOME), 1);
        assert_eq!(copies_of(SOME / 4, SOME / 4), 2);
    }
}
