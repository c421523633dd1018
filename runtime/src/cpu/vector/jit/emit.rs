//! Makes the code of a segment: a loop over the vectors of its lanes, in which values are in the processor's
//! registers.
//!
//! One pass over the values in order. Where a register is needed and none is free, the value that is used
//! last of all is spilled (L. Belady, "A study of replacement algorithms for a virtual-storage computer",
//! 1966): it is stored on the stack, unless memory has it already.

use super::{
    body::{Loop, Node, Store, Three, Value},
    encode::{Assembler, Operand, Place, Vector, vectors},
};
use crate::cpu::vector::{isa::Isa, program::Register};
use std::collections::HashMap;

/// The most bytes of a function's stack: it is not probed page by page, and threads have megabytes.
const MOST_STACK: u32 = 1 << 15;

/// The constants of all functions.
#[derive(Debug, Default)]
pub struct Constants {
    /// Their bits.
    pub bits: Vec<u32>,
    known: HashMap<u32, u32>,
}

impl Constants {
    fn number(&mut self, bits: u32) -> u32 {
        let all = &mut self.bits;
        *self.known.entry(bits).or_insert_with(|| {
            all.push(bits);
            all.len() as u32 - 1
        })
    }
}

/// What is done one after another.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Compute a value.
    Compute(Value),
    /// Store a value in a register of the machine.
    Store(Store),
}

/// Where a value is, and when it is used.
#[derive(Clone, Debug, Default)]
struct State {
    vector: Option<Vector>,
    place: Option<Place>,
    /// The numbers of the events that use it, in order.
    uses: Vec<u32>,
    /// How many of them are past.
    past: usize,
}

struct Emitter<'b> {
    body: &'b Loop,
    /// The values that registers of the machine have at the start.
    old_values: HashMap<(Register, u32), Value>,
    states: Vec<State>,
    /// By register of the processor: its value.
    vectors: Vec<Option<Value>>,
    assembler: Assembler,
    /// Slots of the stack with scalars.
    scalars: Vec<u32>,
    slots: u32,
    free_slots: Vec<u32>,
    /// The event at hand.
    now: u32,
}

/// The function of a loop; `None` if it would need too much of the stack.
pub fn emit(body: &Loop, isa: Isa, constants: &mut Constants) -> Option<Vec<u8>> {
    let mut emitter = Emitter {
        body,
        old_values: HashMap::new(),
        states: vec![State::default(); body.nodes.len()],
        vectors: vec![None; vectors(isa)],
        assembler: Assembler::new(isa),
        scalars: Vec::new(),
        slots: 0,
        free_slots: Vec::new(),
        now: 0,
    };
    let events = emitter.schedule();
    emitter.place_leaves(constants);
    for (number, &event) in events.iter().enumerate() {
        emitter.now = number as u32;
        match event {
            Event::Compute(value) => emitter.compute(value),
            Event::Store(store) => emitter.store(store),
        }
    }
    let slots = emitter.slots;
    let mut function = Assembler::new(isa);
    if slots * function.width() > MOST_STACK {
        return None;
    }
    function.begin(&emitter.scalars, slots);
    let start = function.position();
    function.append(&emitter.assembler.finish());
    function.end(start, body.copies);
    Some(function.finish())
}

impl Emitter<'_> {
    /// The events: each store as early as the register's old value is no longer read.
    fn schedule(&mut self) -> Vec<Event> {
        let nodes = &self.body.nodes;
        // By value: the last value that is computed from it, or itself.
        let mut last_user: Vec<Value> = (0..nodes.len() as Value).collect();
        for (value, node) in nodes.iter().enumerate() {
            if let Node::Register(register, copy) = *node {
                self.old_values.insert((register, copy), value as Value);
            }
            let (operands, count) = node.operands();
            for &operand in &operands[..count] {
                last_user[operand as usize] = value as Value;
            }
        }
        let mut after: HashMap<Value, Vec<Store>> = HashMap::new();
        for &store in &self.body.stores {
            let old = self.old_values.get(&(store.register, store.copy));
            let read = old.map_or(store.value, |&old| last_user[old as usize]);
            after.entry(read.max(store.value)).or_default().push(store);
        }
        let mut events = Vec::new();
        for (value, node) in nodes.iter().enumerate() {
            if !node.is_leaf() {
                events.push(Event::Compute(value as Value));
            }
            let stores = after.remove(&(value as Value)).unwrap_or_default();
            events.extend(stores.into_iter().map(Event::Store));
        }
        for (number, &event) in events.iter().enumerate() {
            let (operands, count) = match event {
                Event::Compute(value) => nodes[value as usize].operands(),
                Event::Store(store) => ([store.value, 0, 0], 1),
            };
            for &operand in &operands[..count] {
                let uses = &mut self.states[operand as usize].uses;
                if uses.last() != Some(&(number as u32)) {
                    uses.push(number as u32);
                }
            }
        }
        events
    }

    /// What registers, scalars and constants are in from the start.
    fn place_leaves(&mut self, constants: &mut Constants) {
        for (value, &node) in self.body.nodes.iter().enumerate() {
            let state = &mut self.states[value];
            if state.uses.is_empty() {
                continue;
            }
            state.place = match node {
                Node::Register(register, copy) => Some(Place::Lanes(register, copy)),
                Node::Scalar(slot) => {
                    self.scalars.push(slot);
                    Some(Place::Stack(self.scalars.len() as u32 - 1))
                }
                Node::Constant(bits) => Some(Place::Constant(constants.number(bits))),
                Node::One(..) | Node::Two(..) | Node::Three(..) => None,
            };
        }
        self.slots = self.scalars.len() as u32;
    }

    /// The next event that uses a value, from this one on, or after it.
    fn next_use(&self, value: Value, first: u32) -> Option<u32> {
        let state = &self.states[value as usize];
        (state.uses[state.past..].iter().copied()).find(|&number| number >= first)
    }

    /// Whether nothing after this event uses a value.
    fn dies(&self, value: Value) -> bool {
        self.next_use(value, self.now + 1).is_none()
    }

    fn vector(&self, value: Value) -> Option<Vector> {
        self.states[value as usize].vector
    }

    fn give(&mut self, vector: Vector, value: Value) {
        self.vectors[usize::from(vector)] = Some(value);
        self.states[value as usize].vector = Some(vector);
    }

    /// A register without a value, if there is one.
    fn free(&self) -> Option<Vector> {
        let free = self.vectors.iter().position(Option::is_none);
        free.map(|vector| vector as Vector)
    }

    /// A register without a value, but none of these.
    fn take(&mut self, kept: &[Vector]) -> Vector {
        if let Some(vector) = self.free() {
            return vector;
        }
        let used = |vector: &Vector| {
            let value = self.vectors[usize::from(*vector)].expect("no register is free");
            self.next_use(value, self.now).unwrap_or(u32::MAX)
        };
        let vector = (0..self.vectors.len() as Vector)
            .filter(|vector| !kept.contains(vector))
            .max_by_key(used)
            .expect("more registers than operands");
        let value = self.vectors[usize::from(vector)].take().expect("a value");
        let state = &mut self.states[value as usize];
        state.vector = None;
        if state.place.is_none() {
            let slot = self.free_slots.pop().unwrap_or_else(|| {
                self.slots += 1;
                self.slots - 1
            });
            self.states[value as usize].place = Some(Place::Stack(slot));
            self.assembler.store(Place::Stack(slot), vector);
        }
        vector
    }

    /// A value in a register.
    fn resident(&mut self, value: Value, kept: &[Vector]) -> Vector {
        if let Some(vector) = self.vector(value) {
            return vector;
        }
        let from = Operand::Memory(self.states[value as usize].place.expect("it is somewhere"));
        let vector = self.take(kept);
        self.assembler.load(vector, from);
        self.give(vector, value);
        vector
    }

    /// A value in a register, or in memory if this is its last use or no register is free.
    fn operand(&mut self, value: Value, kept: &[Vector]) -> Operand {
        if self.vector(value).is_none() && (self.dies(value) || self.free().is_none()) {
            let place = self.states[value as usize].place;
            return Operand::Memory(place.expect("it is somewhere"));
        }
        Operand::Vector(self.resident(value, kept))
    }

    /// Frees the register of a value that nothing uses any more.
    fn release(&mut self, value: Value) {
        if self.dies(value)
            && let Some(vector) = self.states[value as usize].vector.take()
        {
            self.vectors[usize::from(vector)] = None;
        }
    }

    /// Frees the slot of a value that nothing uses any more; after the instruction that reads it.
    fn release_slot(&mut self, value: Value) {
        let scalars = self.scalars.len() as u32;
        if self.dies(value)
            && let Some(Place::Stack(slot)) = self.states[value as usize].place
            && slot >= scalars
        {
            self.states[value as usize].place = None;
            self.free_slots.push(slot);
        }
        let now = self.now;
        let state = &mut self.states[value as usize];
        while state
            .uses
            .get(state.past)
            .is_some_and(|&number| number <= now)
        {
            state.past += 1;
        }
    }

    fn store(&mut self, store: Store) {
        let Store {
            register,
            copy,
            value,
        } = store;
        let to = Place::Lanes(register, copy);
        // What the register held and is still needed is kept elsewhere.
        let mut kept = Vec::new();
        if let Some(&old) = self.old_values.get(&(register, copy))
            && !self.dies(old)
            && self.states[old as usize].place == Some(to)
        {
            kept.push(self.resident(old, &[]));
            self.states[old as usize].place = None;
        }
        let vector = self.resident(value, &kept);
        self.assembler.store(to, vector);
        self.release_slot(value);
        let state = &mut self.states[value as usize];
        if state.place.is_none() {
            state.place = Some(to);
        }
        self.release(value);
    }

    fn compute(&mut self, value: Value) {
        let (operands, count) = self.body.nodes[value as usize].operands();
        let operands = &operands[..count];
        match self.body.nodes[value as usize] {
            Node::One(one, a) => {
                let from = match self.assembler.one_takes_memory(one) {
                    true => self.operand(a, &[]),
                    false => Operand::Vector(self.resident(a, &[])),
                };
                let to = self.result(value, operands);
                self.assembler.one(one, to, from);
            }
            Node::Two(two, mut a, mut b) => {
                if two.commutes() && self.vector(a).is_none() && self.vector(b).is_some() {
                    (a, b) = (b, a);
                }
                let left = self.resident(a, &self.all_vectors(operands));
                let right = self.operand(b, &[left]);
                let to = self.result(value, operands);
                self.assembler.operation(two, to, left, right);
            }
            Node::Three(Three::Fma, all) => self.fma(value, all),
            Node::Three(Three::Select, all) => self.select(value, all),
            Node::Register(..) | Node::Scalar(_) | Node::Constant(_) => {
                unreachable!("it is there from the start")
            }
        }
        for &operand in operands {
            self.release(operand);
            self.release_slot(operand);
        }
    }

    /// The registers that these values have.
    fn all_vectors(&self, values: &[Value]) -> Vec<Vector> {
        values
            .iter()
            .filter_map(|&value| self.vector(value))
            .collect()
    }

    /// The register of a result, which may be that of an operand that dies.
    fn result(&mut self, value: Value, operands: &[Value]) -> Vector {
        let kept = self.all_vectors(operands);
        for &operand in operands {
            self.release(operand);
        }
        let to = self.take(&kept);
        self.give(to, value);
        to
    }

    /// The register of a result that is none of the operands'.
    fn new_result(&mut self, value: Value, operands: &[Value]) -> Vector {
        let to = self.take(&self.all_vectors(operands));
        self.give(to, value);
        to
    }

    /// The register of an operand that dies becomes that of the result.
    fn replace(&mut self, operand: Value, value: Value) -> Vector {
        let vector = self.states[operand as usize]
            .vector
            .take()
            .expect("it is in a register");
        self.give(vector, value);
        vector
    }

    /// Whether an operand is in a register that the result may overwrite.
    fn is_spent(&self, operand: Value, others: [Value; 2]) -> bool {
        self.vector(operand).is_some() && self.dies(operand) && !others.contains(&operand)
    }

    fn fma(&mut self, value: Value, all: [Value; 3]) {
        let [mut a, mut b, c] = all;
        if self.is_spent(c, [a, b]) {
            if self.vector(a).is_none() {
                (a, b) = (b, a);
            }
            let left = self.resident(a, &self.all_vectors(&all));
            let right = self.operand(b, &self.all_vectors(&all));
            let to = self.replace(c, value);
            return self.assembler.fma_231(to, left, right);
        }
        if self.is_spent(b, [a, c]) && !self.is_spent(a, [b, c]) {
            (a, b) = (b, a);
        }
        if self.is_spent(a, [b, c]) {
            let factor = self.resident(b, &self.all_vectors(&all));
            let sum = self.operand(c, &self.all_vectors(&all));
            let to = self.replace(a, value);
            return self.assembler.fma_213(to, factor, sum);
        }
        if self.vector(a).is_none() {
            (a, b) = (b, a);
        }
        let left = self.resident(a, &self.all_vectors(&all));
        let right = self.operand(b, &self.all_vectors(&all));
        let state = &self.states[c as usize];
        let sum = match (state.vector, state.place) {
            (Some(vector), _) => Operand::Vector(vector),
            (None, place) => Operand::Memory(place.expect("it is somewhere")),
        };
        let to = self.new_result(value, &all);
        self.assembler.load(to, sum);
        self.assembler.fma_231(to, left, right);
    }

    fn select(&mut self, value: Value, all: [Value; 3]) {
        let [mask, a, b] = all;
        let at = self.resident(mask, &self.all_vectors(&all));
        if !self.assembler.selects_into_mask() {
            let second = self.resident(b, &self.all_vectors(&all));
            let first = self.operand(a, &self.all_vectors(&all));
            let to = self.result(value, &all);
            return self
                .assembler
                .select(to, at, first, Operand::Vector(second));
        }
        let first = self.resident(a, &self.all_vectors(&all));
        let second = self.operand(b, &self.all_vectors(&all));
        let to = if self.is_spent(mask, [a, b]) {
            self.replace(mask, value)
        } else {
            let to = self.new_result(value, &all);
            self.assembler.load(to, Operand::Vector(at));
            to
        };
        self.assembler
            .select(to, to, Operand::Vector(first), second);
    }
}
