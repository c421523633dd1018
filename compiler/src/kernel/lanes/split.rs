//! Rewrites the loops and arrays that are split.

use crate::{
    builtin::BuiltinId,
    ir::{
        BinaryOp, Block, Expr, ExprId, LaneOp, Launch, Len, Program, Stmt, Type, VarId, VarKind,
        VarMap,
    },
    kernel::lanes::{
        Group, Part, SHUFFLES, Sharing, SplitLoop, Survey,
        accesses::{Form, Linear, Shift},
        neutral,
        over_world::strided,
        places::{self, Neighbour, binary, int, node, read},
    },
    passes::{names::fresh, rewrite::Cloner},
};
use std::collections::{HashMap, HashSet};

/// Splits the groups over the lanes.
/// Returns the parts of states of which each lane has its own.
pub(crate) fn split(
    program: &mut Program,
    survey: &Survey,
    groups: &[Group],
    lanes: u32,
) -> Vec<Part> {
    let mut splitting = Splitting {
        lanes,
        loops: HashMap::new(),
        iterations: HashMap::new(),
        elements: HashMap::new(),
    };
    for group in groups {
        splitting.know(program, survey, group);
    }
    let mut parts = Vec::new();
    for &(array, form) in groups.iter().flat_map(|group| &group.arrays) {
        let var = &mut program[array];
        let elements = form.elements / lanes;
        var.len = Len::Fixed(elements);
        if survey.is_state(array) {
            let words = var.ty.words();
            parts.push(Part {
                words: var.word..var.word + elements * words,
                run: form.run(lanes) * words,
            });
        }
    }
    program.each_section(|program, place, block| {
        if place.is_of_agent() {
            splitting.block(program, block, &mut Block::new());
        }
    });
    parts
}

struct Splitting {
    lanes: u32,
    /// By index.
    loops: HashMap<VarId, SplitLoop>,
    /// The indices of their loops over a lane's own iterations, where these have arrays.
    iterations: HashMap<VarId, VarId>,
    /// Where the elements of split arrays are, by their indices.
    elements: HashMap<ExprId, Whose>,
}

/// Whose an element is.
enum Whose {
    /// It belongs to an iteration of a split loop: its index as a sum, and that of the loop.
    Own(Linear, VarId, Form),
    /// Another lane may have it.
    Shuffled(Form),
    /// It is near that of an iteration of a split loop; lanes have so many of its array.
    Near(Shift, u32),
}

impl Splitting {
    /// Learns what is split of a group.
    fn know(&mut self, program: &mut Program, survey: &Survey, group: &Group) {
        for &at in &group.loops {
            let split = survey.split_loop(group, at);
            if split.sharing == Sharing::Parts {
                let name = program[split.index].name.clone();
                let iteration = fresh(program, name, Type::I32, VarKind::Index);
                self.iterations.insert(split.index, iteration);
            }
            self.loops.insert(split.index, split);
        }
        let loops: HashSet<usize> = group.loops.iter().copied().collect();
        let mut forms = VarMap::default();
        for (array, form) in &group.arrays {
            *forms.grow(*array, None) = Some(*form);
        }
        let shuffles = |at: &usize| {
            group
                .shuffles
                .binary_search_by_key(at, |(at, _)| *at)
                .is_ok()
        };
        for (at, access) in survey.accesses.iter().enumerate() {
            let Some(form) = forms.get(access.array).copied().flatten() else {
                continue;
            };
            let mut inner = access.inner().iter().filter(|at| loops.contains(at));
            let near = survey.neighbour(access, form);
            let near = access
                .shift
                .filter(|_| near.is_some_and(|at| loops.contains(&at)));
            let whose = if !SHUFFLES || !shuffles(&at) {
                let owner = inner.find(|at| survey.form(access, **at) == Some(form));
                let own = access.sum.clone().zip(owner);
                own.map(|(sum, at)| Whose::Own(sum, survey.loops[*at].index, form))
            } else if let Some(shift) = near {
                Some(Whose::Near(shift, form.elements / self.lanes))
            } else {
                Some(Whose::Shuffled(form))
            };
            (self.elements).extend(whose.map(|whose| (access.index, whose)));
        }
    }

    /// Splits what is in a block; `near` gets the names of elements near an iteration's.
    fn block(&self, program: &mut Program, block: &mut Block, near: &mut Block) {
        let mut new = Vec::with_capacity(block.len());
        for mut stmt in std::mem::take(block) {
            self.elements(program, &mut stmt, near);
            places::shuffle_before(program, &stmt, &mut new);
            if let Stmt::For { index, body, .. } = &mut stmt
                && let Some(split) = self.loops.get(index)
            {
                let body = std::mem::take(body);
                self.split_loop(program, split, body, &mut new);
                continue;
            }
            for inner in stmt.blocks_mut() {
                self.block(program, inner, near);
            }
            new.push(stmt);
        }
        *block = new;
    }

    /// A split loop: parts of the accumulators, this lane's iterations, the parts combined.
    fn split_loop(
        &self,
        program: &mut Program,
        split: &SplitLoop,
        mut body: Block,
        new: &mut Block,
    ) {
        // All lanes read what others have before any of them gets to a branch of its own.
        let mut near = Block::new();
        self.block(program, &mut body, &mut near);
        body.splice(0..0, near);
        let mut parts = HashMap::new();
        for &(var, op) in &split.accumulators {
            let (name, ty) = (format!("{}_part", program[var].name), program[var].ty);
            let part = fresh(program, name, ty, VarKind::Local);
            let first = node(program, Expr::Literal(neutral(op, ty)));
            new.push(Stmt::Var {
                var: part,
                value: Some(first),
            });
            parts.insert(var, part);
        }
        rename(program, &mut body, &parts);
        program.vars[split.index.0 as usize].kind = VarKind::Let;
        match split.sharing {
            Sharing::Parts => {
                let stmt = self.in_parts(program, split, body);
                new.push(stmt);
            }
            Sharing::Turns(width) => self.in_turns(program, split, width, body, new),
            Sharing::Strided if !SHUFFLES => {}
            Sharing::Strided => strided(program, split, self.lanes, &body, new),
        }
        for &(var, op) in &split.accumulators {
            let part = read(program, parts[&var]);
            let (lanes, value) = (self.lanes, part);
            let all = node(program, Expr::AcrossLanes { op, lanes, value });
            let before = read(program, var);
            let value = combined(program, op, before, all);
            new.push(Stmt::Assign { var, value });
        }
    }

    /// This lane's iterations one after the other.
    fn in_parts(&self, program: &mut Program, split: &SplitLoop, mut body: Block) -> Stmt {
        let part = split.iterations.div_ceil(self.lanes);
        let iteration = self.iterations[&split.index];
        let lane = node(program, Expr::Launch(Launch::Lane { lanes: self.lanes }));
        let scale = int(program, part);
        let first = binary(program, BinaryOp::Multiply, lane, scale);
        let own = read(program, iteration);
        let mut value = binary(program, BinaryOp::Add, first, own);
        let index = split.index;
        if split.iterations.is_multiple_of(self.lanes) {
            body.insert(0, Stmt::Let { var: index, value });
            return counted(program, iteration, part, body);
        }
        // The last lanes have fewer iterations. The index stays in range, since no read may be out of range
        // even where the iteration is not run.
        let unbounded = fresh(program, "index".to_owned(), Type::I32, VarKind::Let);
        let number = Stmt::Let {
            var: unbounded,
            value,
        };
        let (now, last) = (read(program, unbounded), int(program, split.iterations - 1));
        value = node(program, Expr::Builtin(BuiltinId::MIN, vec![now, last]));
        let (now, end) = (read(program, unbounded), int(program, split.iterations));
        let run = Stmt::If {
            condition: binary(program, BinaryOp::Less, now, end),
            accept: body,
            reject: Block::new(),
        };
        let body = vec![number, Stmt::Let { var: index, value }, run];
        counted(program, iteration, part, body)
    }

    /// A few iterations of each lane in turn, and the remaining ones for the first lanes.
    fn in_turns(
        &self,
        program: &mut Program,
        split: &SplitLoop,
        width: u32,
        body: Block,
        new: &mut Block,
    ) {
        let turns = split.iterations / (width * self.lanes);
        let rest = split.iterations > turns * width * self.lanes;
        let again = rest.then(|| Cloner::default().block(program, &body));
        let turn = fresh(program, "turn".to_owned(), Type::I32, VarKind::Index);
        let number = read(program, turn);
        let first = self.first_of_turn(program, number, width);
        let inner = elements_of_turn(program, split.index, first, None, width, body);
        new.push(counted(program, turn, turns, vec![inner]));
        let Some(mut again) = again else {
            return;
        };
        let number = int(program, turns);
        let first = self.first_of_turn(program, number, width);
        let end = int(program, split.iterations);
        let condition = binary(program, BinaryOp::Less, first, end);
        let number = int(program, turns);
        let first = self.first_of_turn(program, number, width);
        let last = Some(split.iterations - width);
        let index = fresh(program, "i".to_owned(), Type::I32, VarKind::Let);
        rename(program, &mut again, &HashMap::from([(split.index, index)]));
        let inner = elements_of_turn(program, index, first, last, width, again);
        new.push(Stmt::If {
            condition,
            accept: vec![inner],
            reject: Block::new(),
        });
    }

    /// `(turn * lanes + lane) * width`
    fn first_of_turn(&self, program: &mut Program, turn: ExprId, width: u32) -> ExprId {
        let lanes = int(program, self.lanes);
        let before = binary(program, BinaryOp::Multiply, turn, lanes);
        let lane = node(program, Expr::Launch(Launch::Lane { lanes: self.lanes }));
        let number = binary(program, BinaryOp::Add, before, lane);
        let scale = int(program, width);
        binary(program, BinaryOp::Multiply, number, scale)
    }

    /// The elements of split arrays are those of a lane, or of another one; `names` gets the names of those
    /// near an iteration's.
    fn elements(&self, program: &mut Program, stmt: &mut Stmt, names: &mut Block) {
        let own = |program: &mut Program, sum: &Linear, index: VarId, form: Form| {
            places::own(
                program,
                sum,
                (index, self.iterations[&index]),
                form,
                self.lanes,
            )
        };
        if let Stmt::AssignElement { index, .. } = stmt
            && let Some(Whose::Own(sum, of_loop, form)) = self.elements.get(index)
        {
            *index = own(program, sum, *of_loop, *form);
        }
        let nodes: Vec<_> = program.nodes_of(stmt).collect();
        // An index that is copied has its own elements done.
        for id in nodes.into_iter().rev() {
            let Expr::Element { array, index } = program[id] else {
                continue;
            };
            match self.elements.get(&index) {
                None => {}
                Some(Whose::Own(sum, of_loop, form)) => {
                    let index = own(program, sum, *of_loop, *form);
                    program[id] = Expr::Element { array, index };
                }
                Some(_) if !SHUFFLES => {}
                Some(Whose::Shuffled(form)) => {
                    program[id] = places::shuffled(program, array, index, *form, self.lanes);
                }
                Some(Whose::Near(shift, each)) => {
                    let near = Neighbour {
                        array,
                        iteration: self.iterations[&shift.own],
                        by: shift.by,
                        each: i64::from(*each),
                        lanes: self.lanes,
                    };
                    let value = near.element(program, shift.edge);
                    let name = format!("{}_near", program[array].name);
                    let var = fresh(program, name, program[array].ty, VarKind::Let);
                    names.push(Stmt::Let { var, value });
                    program[id] = Expr::Read(var);
                }
            }
        }
    }
}

/// The elements `first .. first + width`, `first` being at most `last`.
fn elements_of_turn(
    program: &mut Program,
    index: VarId,
    first: ExprId,
    last: Option<u32>,
    width: u32,
    body: Block,
) -> Stmt {
    let first = match last {
        None => first,
        Some(last) => {
            let last = int(program, last);
            node(program, Expr::Builtin(BuiltinId::MIN, vec![first, last]))
        }
    };
    let k = fresh(program, "k".to_owned(), Type::I32, VarKind::Index);
    let step = read(program, k);
    let value = binary(program, BinaryOp::Add, first, step);
    let mut inner = vec![Stmt::Let { var: index, value }];
    inner.extend(body);
    counted(program, k, width, inner)
}

/// `for index in 0..iterations`
pub(crate) fn counted(program: &mut Program, index: VarId, iterations: u32, body: Block) -> Stmt {
    Stmt::For {
        index,
        start: int(program, 0),
        end: int(program, iterations),
        body,
    }
}

fn combined(program: &mut Program, op: LaneOp, a: ExprId, b: ExprId) -> ExprId {
    let expr = match op {
        LaneOp::Sum => Expr::Binary(BinaryOp::Add, a, b),
        LaneOp::Product => Expr::Binary(BinaryOp::Multiply, a, b),
        // The lanes first: where they wait for one another, none may skip that.
        LaneOp::Any => Expr::Binary(BinaryOp::Or, b, a),
        LaneOp::All => Expr::Binary(BinaryOp::And, b, a),
        LaneOp::Least => Expr::Builtin(BuiltinId::MIN, vec![a, b]),
        LaneOp::Most => Expr::Builtin(BuiltinId::MAX, vec![a, b]),
    };
    node(program, expr)
}

/// Renames variables within a block.
fn rename(program: &mut Program, block: &mut Block, names: &HashMap<VarId, VarId>) {
    if names.is_empty() {
        return;
    }
    for stmt in block {
        for id in program.nodes_of(stmt).collect::<Vec<_>>() {
            if let Expr::Read(var) = &mut program[id]
                && let Some(name) = names.get(var)
            {
                *var = *name;
            }
        }
        if let Stmt::Assign { var, .. } = stmt
            && let Some(name) = names.get(var)
        {
            *var = *name;
        }
        for inner in stmt.blocks_mut() {
            rename(program, inner, names);
        }
    }
}
