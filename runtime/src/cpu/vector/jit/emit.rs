//! Makes the code of a segment: a loop over the vectors of its lanes, in which values are in the processor's
//! registers.
//!
//! One pass over the values in order. Where a register is needed and none is free, the value that is used
//! last of all is spilled (L. Belady, "A study of replacement algorithms for a virtual-storage computer",
//! 1966): it is stored on the stack, unless memory has it already.

use super::{
    body::{Destination, Loop, Node, Store, Three, Value},
    constants::Constants,
    encode::{ADDRESS, Assembler, Mask, Operand, Place, SlowPath, Vector, masks, vectors},
    rare::Rare,
};
use crate::cpu::vector::{isa::Isa, program::Register};
use rustc_hash::FxHashMap;

/// The most bytes of a function's stack: it is not probed page by page, and threads have megabytes.
const MOST_STACK: u32 = 1 << 15;

/// What is done one after another.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Compute a value.
    Compute(Value),
    /// Store a value in a register of the machine.
    Store(Store),
}

/// Where a value is, and when it is used.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    vector: Option<Vector>,
    /// The mask register that it is in instead.
    mask: Option<Mask>,
    /// Whether all that uses it takes it from a mask register.
    selects: bool,
    place: Option<Place>,
    /// Which of [`Emitter::uses`] are of it and not past.
    next: u32,
    end: u32,
}

/// A set of registers of the processor, one bit each.
#[derive(Clone, Copy, Debug, Default)]
struct Set(u32);

impl Set {
    fn of(vector: Vector) -> Set {
        Set(1 << vector)
    }

    fn has(self, vector: Vector) -> bool {
        self.0 >> vector & 1 == 1
    }
}

struct Emitter<'b> {
    body: &'b Loop,
    /// The values that registers of the machine have at the start.
    old_values: FxHashMap<(Register, u32), Value>,
    states: Vec<State>,
    /// The numbers of the events that use a value, in order, of one value after the other.
    uses: Vec<u32>,
    /// By register of the processor: its value.
    vectors: Vec<Option<Value>>,
    assembler: Assembler,
    /// The scalars in slots of the stack.
    scalars: Vec<u32>,
    /// Slots of the stack with scalars or addresses.
    fixed_slots: u32,
    slots: u32,
    free_slots: Vec<u32>,
    /// What is computed beside the loop.
    slow_paths: Vec<SlowPath>,
    /// Mask registers without a value.
    free_masks: Vec<Mask>,
    /// The event at hand.
    now: u32,
}

/// The function of loops that run one after another, the last one what the others leave; `None` if it would
/// need too much of the stack.
pub fn emit(loops: &[Loop], isa: Isa, constants: &mut Constants) -> Option<Vec<u8>> {
    let mut bodies = Vec::new();
    let mut scalars = Vec::new();
    let mut slots = 0;
    for body in loops {
        let emitted = Emitter::run(body, isa, constants);
        // All loops have the same values, and so the same scalars.
        scalars = emitted.scalars;
        slots = slots.max(emitted.slots);
        bodies.push((emitted.assembler.finish(), emitted.slow_paths, body.copies));
    }
    let mut function = Assembler::new(isa);
    let has_slow_paths = bodies
        .iter()
        .any(|(_, slow_paths, _)| !slow_paths.is_empty());
    let first_saved = slots;
    if has_slow_paths {
        slots += function.slots_of_slow_paths();
    }
    if slots * function.width() > MOST_STACK {
        return None;
    }
    function.begin(&scalars, &loops[0].elements, slots);
    let mut all = Vec::new();
    for (body, slow_paths, copies) in &bodies {
        let start = function.repeat(body, *copies);
        all.extend(slow_paths.iter().map(|path| path.moved(start)));
    }
    function.end();
    if has_slow_paths {
        function.slow_paths(&all, first_saved);
    }
    Some(function.finish())
}

impl<'b> Emitter<'b> {
    /// The code of an iteration.
    fn run(body: &'b Loop, isa: Isa, constants: &mut Constants) -> Emitter<'b> {
        let mut emitter = Emitter {
            body,
            old_values: FxHashMap::default(),
            states: vec![State::default(); body.nodes.len()],
            uses: Vec::new(),
            vectors: vec![None; vectors(isa)],
            assembler: Assembler::new(isa),
            scalars: Vec::new(),
            fixed_slots: 0,
            slots: 0,
            free_slots: Vec::new(),
            slow_paths: Vec::new(),
            free_masks: masks(isa).collect(),
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
        emitter
    }

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
        let last = (nodes.len() as Value).saturating_sub(1);
        let mut stores: Vec<(Value, Store)> = (self.body.stores.iter())
            .map(|&store| {
                let Destination::Register(register) = store.to else {
                    return (last, store);
                };
                let old = self.old_values.get(&(register, store.copy));
                let read = old.map_or(store.value, |&old| last_user[old as usize]);
                (read.max(store.value), store)
            })
            .collect();
        let is_element = |store: &Store| matches!(store.to, Destination::Element(_));
        stores.sort_by_key(|(after, store)| (*after, is_element(store)));
        let mut stores = stores.into_iter().peekable();
        let mut events = Vec::with_capacity(nodes.len() + self.body.stores.len());
        for (value, node) in nodes.iter().enumerate() {
            if !node.is_leaf() {
                events.push(Event::Compute(value as Value));
            }
            while let Some((_, store)) = stores.next_if(|&(after, _)| after == value as Value) {
                events.push(Event::Store(store));
            }
        }
        self.find_uses(&events);
        self.find_masks();
        events
    }

    /// The values that are only used as masks of selections.
    fn find_masks(&mut self) {
        let nodes = &self.body.nodes;
        for (state, node) in self.states.iter_mut().zip(nodes) {
            state.selects = matches!(node, Node::Two(two, ..) if two.compares());
        }
        for node in nodes {
            let (operands, count) = node.operands();
            let is_selection = matches!(node, Node::Three(Three::Select | Three::Rare(_), _));
            for &operand in &operands[usize::from(is_selection).min(count)..count] {
                self.states[operand as usize].selects = false;
            }
        }
        for store in &self.body.stores {
            self.states[store.value as usize].selects = false;
        }
    }

    /// The operands of an event. One may be there twice.
    fn operands(&self, event: Event) -> ([Value; 3], usize) {
        match event {
            Event::Compute(value) => self.body.nodes[value as usize].operands(),
            Event::Store(store) => ([store.value, 0, 0], 1),
        }
    }

    /// By value: the events that use it.
    fn find_uses(&mut self, events: &[Event]) {
        for &event in events {
            let (operands, count) = self.operands(event);
            for &operand in &operands[..count] {
                self.states[operand as usize].end += 1;
            }
        }
        let mut all = 0;
        for state in &mut self.states {
            let count = state.end;
            (state.next, state.end) = (all, all);
            all += count;
        }
        self.uses = vec![0; all as usize];
        for (number, &event) in events.iter().enumerate() {
            let (operands, count) = self.operands(event);
            for &operand in &operands[..count] {
                let state = &mut self.states[operand as usize];
                self.uses[state.end as usize] = number as u32;
                state.end += 1;
            }
        }
    }

    /// What registers, scalars and constants are in from the start.
    fn place_leaves(&mut self, constants: &mut Constants) {
        for (value, &node) in self.body.nodes.iter().enumerate() {
            let state = &mut self.states[value];
            if state.next == state.end {
                continue;
            }
            state.place = match node {
                Node::Register(register, copy) => Some(Place::Lanes(register, copy)),
                Node::Scalar(slot) => {
                    self.scalars.push(slot);
                    Some(Place::Stack(self.scalars.len() as u32 - 1))
                }
                Node::Constant(bits) => Some(Place::Constant(constants.number(bits))),
                Node::Element(..) | Node::One(..) | Node::Two(..) | Node::Three(..) => None,
            };
        }
        for (value, &node) in self.body.nodes.iter().enumerate() {
            if let Node::Element(number, copy) = node {
                let address = self.address_of(number);
                self.states[value].place = Some(Place::Element { address, copy });
            }
        }
        let addresses = self.body.elements.len() as u32 * ADDRESS;
        self.fixed_slots = self.scalars.len() as u32 + addresses.div_ceil(self.assembler.width());
        self.slots = self.fixed_slots;
    }

    /// Where the address of an element is on the stack, in bytes: behind the scalars.
    fn address_of(&self, number: u32) -> u32 {
        self.scalars.len() as u32 * self.assembler.width() + number * ADDRESS
    }

    /// The next event that uses a value, from this one on, or after it.
    fn next_use(&self, value: Value, first: u32) -> Option<u32> {
        let State { next, end, .. } = self.states[value as usize];
        let uses = &self.uses[next as usize..end as usize];
        uses.iter().copied().find(|&number| number >= first)
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
    fn take(&mut self, kept: Set) -> Vector {
        if let Some(vector) = self.free() {
            return vector;
        }
        let used = |vector: &Vector| {
            let value = self.vectors[usize::from(*vector)].expect("no register is free");
            self.next_use(value, self.now).unwrap_or(u32::MAX)
        };
        let vector = (0..self.vectors.len() as Vector)
            .filter(|&vector| !kept.has(vector))
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
    fn resident(&mut self, value: Value, kept: Set) -> Vector {
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
    fn operand(&mut self, value: Value, kept: Set) -> Operand {
        if self.vector(value).is_none() && (self.dies(value) || self.free().is_none()) {
            let place = self.states[value as usize].place;
            return Operand::Memory(place.expect("it is somewhere"));
        }
        Operand::Vector(self.resident(value, kept))
    }

    /// Frees the register of a value that nothing uses any more.
    fn release(&mut self, value: Value) {
        if !self.dies(value) {
            return;
        }
        let state = &mut self.states[value as usize];
        self.free_masks.extend(state.mask.take());
        if let Some(vector) = state.vector.take() {
            self.vectors[usize::from(vector)] = None;
        }
    }

    /// Frees the slot of a value that nothing uses any more; after the instruction that reads it.
    fn release_slot(&mut self, value: Value) {
        if self.dies(value)
            && let Some(Place::Stack(slot)) = self.states[value as usize].place
            && slot >= self.fixed_slots
        {
            self.states[value as usize].place = None;
            self.free_slots.push(slot);
        }
        let state = &mut self.states[value as usize];
        while state.next < state.end && self.uses[state.next as usize] <= self.now {
            state.next += 1;
        }
    }

    fn store(&mut self, store: Store) {
        let Store { to, copy, value } = store;
        let register = match to {
            Destination::Register(register) => register,
            Destination::Element(number) => {
                let address = self.address_of(number);
                let vector = self.resident(value, Set::default());
                self.assembler
                    .store(Place::Element { address, copy }, vector);
                self.release_slot(value);
                return self.release(value);
            }
        };
        let to = Place::Lanes(register, copy);
        // What the register held and is still needed is kept elsewhere.
        let mut kept = Set::default();
        if let Some(&old) = self.old_values.get(&(register, copy))
            && !self.dies(old)
            && self.states[old as usize].place == Some(to)
        {
            kept = Set::of(self.resident(old, Set::default()));
            self.states[old as usize].place = None;
        }
        let vector = self.resident(value, kept);
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
                    true => self.operand(a, Set::default()),
                    false => Operand::Vector(self.resident(a, Set::default())),
                };
                let to = self.result(value, operands);
                self.assembler.one(one, to, from);
            }
            Node::Two(two, mut a, mut b) => {
                if two.commutes() && self.vector(a).is_none() && self.vector(b).is_some() {
                    (a, b) = (b, a);
                }
                let left = self.resident(a, self.all_vectors(operands));
                let right = self.operand(b, Set::of(left));
                if self.states[value as usize].selects
                    && let Some(mask) = self.free_masks.pop()
                {
                    self.states[value as usize].mask = Some(mask);
                    self.assembler.compare(two, mask, left, right);
                    return self.release_all(operands);
                }
                let to = self.result(value, operands);
                self.assembler.operation(two, to, left, right);
            }
            Node::Three(Three::Fma, all) => self.fma(value, all),
            Node::Three(Three::Select, all) => self.select(value, all),
            Node::Three(Three::Rare(rare), all) => self.rare(value, rare, all),
            Node::Register(..) | Node::Element(..) | Node::Scalar(_) | Node::Constant(_) => {
                unreachable!("it is there from the start")
            }
        }
        self.release_all(operands);
    }

    fn release_all(&mut self, operands: &[Value]) {
        for &operand in operands {
            self.release(operand);
            self.release_slot(operand);
        }
    }

    /// The registers that these values have.
    fn all_vectors(&self, values: &[Value]) -> Set {
        let vectors = values.iter().filter_map(|&value| self.vector(value));
        Set(vectors.fold(0, |all, vector| all | Set::of(vector).0))
    }

    /// The register of a result, which may be that of an operand that dies.
    fn result(&mut self, value: Value, operands: &[Value]) -> Vector {
        let kept = self.all_vectors(operands);
        for &operand in operands {
            self.release(operand);
        }
        let to = self.take(kept);
        self.give(to, value);
        to
    }

    /// The register of a result that is none of the operands'.
    fn new_result(&mut self, value: Value, operands: &[Value]) -> Vector {
        let to = self.take(self.all_vectors(operands));
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

    /// The register of a result that begins as an operand, which is in a register: that of the operand, or a
    /// copy of it where it or another operand still needs it.
    fn over(&mut self, operand: Value, others: [Value; 2], value: Value) -> Vector {
        if self.is_spent(operand, others) {
            return self.replace(operand, value);
        }
        let [a, b] = others;
        let from = self.vector(operand).expect("it is in a register");
        let to = self.new_result(value, &[operand, a, b]);
        self.assembler.load(to, Operand::Vector(from));
        to
    }

    fn fma(&mut self, value: Value, all: [Value; 3]) {
        let [mut a, mut b, c] = all;
        if self.is_spent(c, [a, b]) {
            if self.vector(a).is_none() {
                (a, b) = (b, a);
            }
            let left = self.resident(a, self.all_vectors(&all));
            let right = self.operand(b, self.all_vectors(&all));
            let to = self.replace(c, value);
            return self.assembler.fma_231(to, left, right);
        }
        if self.is_spent(b, [a, c]) && !self.is_spent(a, [b, c]) {
            (a, b) = (b, a);
        }
        if self.is_spent(a, [b, c]) {
            let factor = self.resident(b, self.all_vectors(&all));
            let sum = self.operand(c, self.all_vectors(&all));
            let to = self.replace(a, value);
            return self.assembler.fma_213(to, factor, sum);
        }
        if self.vector(a).is_none() {
            (a, b) = (b, a);
        }
        let left = self.resident(a, self.all_vectors(&all));
        let right = self.operand(b, self.all_vectors(&all));
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
        if let Some(mask) = self.states[mask as usize].mask {
            let second = self.resident(b, self.all_vectors(&all));
            let first = self.operand(a, self.all_vectors(&all));
            let to = self.result(value, &all);
            return self.assembler.blend(to, mask, first, second);
        }
        let at = self.resident(mask, self.all_vectors(&all));
        if !self.assembler.selects_into_mask() {
            let second = self.resident(b, self.all_vectors(&all));
            let first = self.operand(a, self.all_vectors(&all));
            let to = self.result(value, &all);
            return self
                .assembler
                .select(to, at, first, Operand::Vector(second));
        }
        let first = self.resident(a, self.all_vectors(&all));
        let second = self.operand(b, self.all_vectors(&all));
        let to = self.over(mask, [a, b], value);
        self.assembler
            .select(to, to, Operand::Vector(first), second);
    }

    fn rare(&mut self, value: Value, rare: Rare, all: [Value; 3]) {
        let [mask, usual, argument] = all;
        let from = self.resident(argument, self.all_vectors(&all));
        self.resident(usual, self.all_vectors(&all));
        let to = self.over(usual, [mask, argument], value);
        let jump = match self.states[mask as usize].mask {
            Some(mask) => self.assembler.jump_if_any(mask),
            None => {
                let vector = self.resident(mask, self.all_vectors(&[mask, argument, value]));
                self.assembler.jump_if_any_lane(vector)
            }
        };
        self.slow_paths.push(SlowPath {
            jump,
            rare,
            to,
            from,
        });
    }
}
