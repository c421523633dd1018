//! Rewrites the loops and arrays that are split.

use crate::{
    builtin::BuiltinId,
    ir::{
        BinaryOp, Block, Expr, ExprId, LaneOp, Launch, Len, Program, Stmt, Type, Value, VarId,
        VarKind,
    },
    kernel::lanes::{Group, SplitLoop, Survey, TURN, neutral},
    passes::{names::fresh, rewrite::Cloner},
    span::Span,
};
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

/// Splits the groups over the lanes.
/// Returns which words of states the first lane has of those that each has a part of.
pub(crate) fn split(
    program: &mut Program,
    survey: &Survey,
    groups: &[Group],
    lanes: u32,
) -> Vec<Range<u32>> {
    let mut splitting = Splitting {
        lanes,
        loops: HashMap::new(),
        arrays: HashSet::new(),
    };
    for group in groups {
        for &at in &group.loops {
            let split = survey.split_loop(group, at);
            splitting.loops.insert(split.index, split);
        }
        splitting.arrays.extend(&group.arrays);
    }
    let mut parts = Vec::new();
    for &array in &splitting.arrays {
        let var = &mut program[array];
        if let Len::Fixed(count) = var.len {
            let part = count / lanes;
            var.len = Len::Fixed(part);
            if survey.is_state(array) {
                let words = part * var.ty.words();
                parts.push(var.word..var.word + words);
            }
        }
    }
    program.each_section(|program, place, block| {
        if place.is_of_agent() {
            splitting.block(program, block);
        }
    });
    parts
}

struct Splitting {
    lanes: u32,
    /// By index.
    loops: HashMap<VarId, SplitLoop>,
    arrays: HashSet<VarId>,
}

impl Splitting {
    fn block(&self, program: &mut Program, block: &mut Block) {
        let mut new = Vec::with_capacity(block.len());
        for mut stmt in std::mem::take(block) {
            if let Stmt::For { index, body, .. } = &mut stmt
                && let Some(split) = self.loops.get(index)
            {
                let body = std::mem::take(body);
                self.split_loop(program, split, body, &mut new);
                continue;
            }
            for inner in stmt.blocks_mut() {
                self.block(program, inner);
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
        if split.in_turns {
            self.in_turns(program, split, body, new);
        } else {
            let stmt = self.in_parts(program, split, body);
            new.push(stmt);
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
        let name = program[split.index].name.clone();
        let iteration = fresh(program, name, Type::I32, VarKind::Index);
        self.at_own_index(program, &body, split.index, iteration);
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
    fn in_turns(&self, program: &mut Program, split: &SplitLoop, body: Block, new: &mut Block) {
        let width = match split.iterations.is_multiple_of(TURN) {
            true => TURN,
            false => 1,
        };
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

    /// The elements of split arrays are counted from this lane's first.
    fn at_own_index(&self, program: &mut Program, body: &Block, index: VarId, iteration: VarId) {
        for stmt in body {
            if let Stmt::AssignElement { var, index: at, .. } = stmt
                && self.arrays.contains(var)
                && program[*at] == Expr::Read(index)
            {
                program[*at] = Expr::Read(iteration);
            }
            for id in program.nodes_of(stmt).collect::<Vec<_>>() {
                if let Expr::Element { array, index: at } = program[id]
                    && self.arrays.contains(&array)
                    && program[at] == Expr::Read(index)
                {
                    program[at] = Expr::Read(iteration);
                }
            }
            for inner in stmt.blocks() {
                self.at_own_index(program, inner, index, iteration);
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
fn counted(program: &mut Program, index: VarId, iterations: u32, body: Block) -> Stmt {
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

/// A node of the compiler's own.
fn node(program: &mut Program, expr: Expr) -> ExprId {
    program.add(expr, Span::default())
}

fn read(program: &mut Program, var: VarId) -> ExprId {
    node(program, Expr::Read(var))
}

fn int(program: &mut Program, value: u32) -> ExprId {
    node(program, Expr::Literal(Value::I32(value as i32)))
}

fn binary(program: &mut Program, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
    node(program, Expr::Binary(op, a, b))
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
