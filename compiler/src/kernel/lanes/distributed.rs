//! Arrays that are equal in all lanes, but too large for registers, are held by all lanes together: element
//! `e` by lane `e % lanes`. Each lane would hold a copy in memory otherwise, of which few fit a cache.

use super::{
    accesses::keeps_value,
    places::{binary, int, node, shuffle_before},
};
use crate::{
    ir::{BinaryOp, Block, Expr, ExprId, Launch, Len, Program, Stmt, Value, VarId, VarKind, names},
    kernel::lanes::survey::{Group, Survey},
    passes::{
        names::extract,
        rewrite::{Cloner, literal_i32},
        shape::identical,
    },
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Elements of a lane that are selected one by one.
const FEW: u32 = 4;

impl Survey {
    /// The local arrays that lanes can hold together where these groups are split, with their elements: all
    /// lanes access them, at the same index, at some that is not known.
    pub(crate) fn distributed(&self, program: &Program, groups: &[Group]) -> BTreeMap<VarId, u32> {
        let split: BTreeSet<usize> = groups.iter().flat_map(|g| g.loops.clone()).collect();
        let is_split = |at: &usize| split.contains(at);
        let mut found = BTreeMap::new();
        for access in &self.accesses {
            let is_local = program[access.array].kind == VarKind::Local;
            let unknown = access
                .varies
                .iter()
                .any(|at| self.loops[*at].iterations == 0);
            if let Some(elements) = access.elements.filter(|_| is_local && unknown) {
                found.insert(access.array, elements);
            }
        }
        for access in &self.accesses {
            let together = access.control.as_ref().is_some_and(|control| {
                let mut depends = control.iter().chain(&access.varies);
                !depends.any(is_split)
            });
            let outside = &access.around[..access.outside];
            let alone = outside.iter().any(is_split)
                || access.writes && access.inner().iter().any(is_split);
            if !together || alone {
                found.remove(&access.array);
            }
        }
        for (array, _) in groups.iter().flat_map(|group| &group.arrays) {
            found.remove(array);
        }
        found
    }
}

/// Distributes arrays over the lanes.
pub(crate) fn distribute(program: &mut Program, arrays: &BTreeMap<VarId, u32>, lanes: u32) {
    for (&array, elements) in arrays {
        program[array].len = Len::Fixed(elements.div_ceil(lanes));
    }
    let blocks = program.agent_blocks();
    let values = blocks.flat_map(|block| names(block)).collect();
    let distributed = Distributed {
        arrays,
        values,
        lanes,
    };
    program.each_section(|program, place, block| {
        if place.is_of_agent() {
            distributed.block(program, block);
        }
    });
}

struct Distributed<'a> {
    /// With the elements that they had.
    arrays: &'a BTreeMap<VarId, u32>,
    /// Of names.
    values: HashMap<VarId, ExprId>,
    lanes: u32,
}

/// The element that was written last: the names of its index and its value.
struct Written {
    index: VarId,
    value: VarId,
}

impl Distributed<'_> {
    fn block(&self, program: &mut Program, block: &mut Block) {
        let mut new = Block::with_capacity(block.len());
        let mut written = BTreeMap::new();
        for mut stmt in std::mem::take(block) {
            if self.fills(program, &mut stmt) {
                written.clear();
                new.push(stmt);
                continue;
            }
            self.forward(program, &stmt, &written);
            self.reads(program, &stmt);
            shuffle_before(program, &stmt, &mut new);
            for inner in stmt.blocks_mut() {
                self.block(program, inner);
                written.clear();
            }
            if let Stmt::AssignElement { var, index, value } = stmt
                && self.arrays.contains_key(&var)
            {
                let element = self.write(program, &mut new, var, [index, value]);
                written.insert(var, element);
            } else {
                new.push(stmt);
            }
        }
        *block = new;
    }

    /// Reads elements that were written last by the names of what was written.
    fn forward(&self, program: &mut Program, stmt: &Stmt, written: &BTreeMap<VarId, Written>) {
        let nodes: Vec<_> = program.nodes_of(stmt).collect();
        for id in nodes {
            if let Expr::Element { array, index } = program[id]
                && let Some(last) = written.get(&array)
                && let Expr::Read(name) = program[index]
                && self.are_equal(program, name, last.index)
            {
                program[id] = Expr::Read(last.value);
            }
        }
    }

    /// Have two names the same value? Models write an index again where they mean the same element.
    fn are_equal(&self, program: &Program, a: VarId, b: VarId) -> bool {
        let of_names = |id: &ExprId| {
            let mut nodes = program.nodes(*id);
            nodes.all(|node| {
                program[node]
                    .variable()
                    .is_none_or(|var| keeps_value(program, var))
            })
        };
        let value = |name: VarId| self.values.get(&name).copied().filter(of_names);
        a == b
            || value(a)
                .zip(value(b))
                .is_some_and(|(a, b)| identical(program, a, b))
    }

    /// A loop that sets all elements to a literal becomes one over each lane's.
    fn fills(&self, program: &mut Program, stmt: &mut Stmt) -> bool {
        let Stmt::For {
            index,
            start,
            end,
            body,
        } = stmt
        else {
            return false;
        };
        let [
            Stmt::AssignElement {
                var,
                index: at,
                value,
            },
        ] = body.as_slice()
        else {
            return false;
        };
        let elements = self.arrays.get(var).copied();
        let known = |id: ExprId| literal_i32(program, id).and_then(|n| u32::try_from(n).ok());
        let fills = elements.is_some()
            && known(*start) == Some(0)
            && known(*end) == elements
            && program[*at] == Expr::Read(*index)
            && matches!(program[*value], Expr::Literal(_));
        if let Some(elements) = elements.filter(|_| fills) {
            *end = int(program, elements.div_ceil(self.lanes));
        }
        fills
    }

    fn reads(&self, program: &mut Program, stmt: &Stmt) {
        let nodes: Vec<_> = program.nodes_of(stmt).collect();
        // An index that is copied has its own elements done.
        for id in nodes.into_iter().rev() {
            if let Expr::Element { array, index } = program[id]
                && self.arrays.contains_key(&array)
            {
                let (lane, place) = self.place(program, index);
                let value = self.own(program, array, place);
                let lanes = self.lanes;
                program[id] = Expr::Shuffle { lanes, value, lane };
            }
        }
    }

    /// The lane has the element to which it belongs write it. All compute the value, as that may take all.
    fn write(
        &self,
        program: &mut Program,
        block: &mut Block,
        var: VarId,
        roots: [ExprId; 2],
    ) -> Written {
        let names = roots.map(|root| {
            if let Expr::Read(name) = program[root]
                && keeps_value(program, name)
            {
                return name;
            }
            let (name, named) = extract(program, root);
            block.push(named);
            name
        });
        let [index, value] = roots;
        let lanes = self.lanes;
        let lane = |program: &mut Program| node(program, Expr::Launch(Launch::Lane { lanes }));
        if let Some(each) = self.few(var) {
            for place in 0..each {
                // The element that the lane has there.
                let (of_lane, before) = (lane(program), int(program, place * lanes));
                let own = binary(program, BinaryOp::Add, of_lane, before);
                let [at, value] = names.map(|name| node(program, Expr::Read(name)));
                let condition = binary(program, BinaryOp::Equal, at, own);
                block.push(Stmt::If {
                    condition,
                    accept: vec![Stmt::AssignElement {
                        var,
                        index: int(program, place),
                        value,
                    }],
                    reject: Block::new(),
                });
            }
        } else {
            let (owner, index) = self.place(program, index);
            let of_lane = lane(program);
            block.push(Stmt::If {
                condition: binary(program, BinaryOp::Equal, of_lane, owner),
                accept: vec![Stmt::AssignElement { var, index, value }],
                reject: Block::new(),
            });
        }
        let [index, value] = names;
        Written { index, value }
    }

    /// How many elements each lane has of an array, if they are few enough to be in registers.
    fn few(&self, array: VarId) -> Option<u32> {
        let each = self.arrays[&array].div_ceil(self.lanes);
        (each <= FEW).then_some(each)
    }

    /// What a lane has at a place of its own: of a few it is selected, so that they can be in registers.
    fn own(&self, program: &mut Program, array: VarId, place: ExprId) -> ExprId {
        let element = |program: &mut Program, index| node(program, Expr::Element { array, index });
        let Some(each) = self.few(array) else {
            return element(program, place);
        };
        let last = int(program, each - 1);
        let mut value = element(program, last);
        for at in 0..each - 1 {
            let (place, this) = (Cloner::default().expr(program, place), int(program, at));
            let condition = binary(program, BinaryOp::Equal, place, this);
            let index = int(program, at);
            let accept = element(program, index);
            let reject = value;
            let select = Expr::Select {
                condition,
                accept,
                reject,
            };
            value = node(program, select);
        }
        value
    }

    /// The lane that has an element, and its place there. Lanes are a power of two, and no index is negative.
    fn place(&self, program: &mut Program, index: ExprId) -> (ExprId, ExprId) {
        let again = Cloner::default().expr(program, index);
        let last = int(program, self.lanes - 1);
        let shift = Expr::Literal(Value::U32(self.lanes.trailing_zeros()));
        let shift = node(program, shift);
        let lane = binary(program, BinaryOp::BitAnd, again, last);
        (lane, binary(program, BinaryOp::ShiftRight, index, shift))
    }
}
