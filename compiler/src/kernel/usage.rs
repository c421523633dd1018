//! What a program uses: one walk over all blocks that run on the device, before a line is written.

use super::lane_layout::LaneLayout;
use crate::builtin::BuiltinId;
use crate::ir::{
    BinaryOp, Block, Expr, ExprId, FunctionId, FunctionMap, LaneOp, Launch, Owner, Program, Stmt,
    Type, Value, VarId, VarKind, VarMap, names,
};
use crate::value::VEC4_WORDS;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What a program uses.
pub(crate) struct Usage {
    /// Assignments per variable, declarations not counted.
    pub assigned: VarMap<u32>,
    /// Reads per variable, including those of elements.
    pub read: VarMap<u32>,
    /// Which arrays are indexed by something other than a literal.
    pub dynamic: VarMap<bool>,
    /// Which of them in steps.
    pub dynamic_in_steps: VarMap<bool>,
    /// The input values at a known place, in layout order.
    pub inputs: BTreeMap<InputValue, InputUse>,
    /// The functions that are called from anywhere.
    pub called: FunctionMap<bool>,
    /// Whether `init`, `step` and `finish` draw.
    pub draws: [bool; 3],
    /// Whether they draw for the world.
    pub world_draws: [bool; 3],
    /// Whether functions read the agent's place in its world, and the number of the world.
    pub member: bool,
    /// See `member`.
    pub world: bool,
    /// Whether the agent's number is read, anywhere and in functions.
    pub agent: [bool; 2],
    /// Whether the number of the step is read.
    pub step: bool,
    /// Whether a step can stop its agent.
    pub stops: bool,
    /// How lanes are combined, and values of which type.
    pub across: HashSet<(LaneOp, Type)>,
    /// Whether a lane reads what another one has.
    pub shuffles: bool,
    /// Whether lanes are combined in `finish`.
    pub across_finish: bool,
    /// Whether an agent has several lanes.
    is_split: bool,
    /// With lanes: the values of names.
    pub(crate) lets: HashMap<VarId, ExprId>,
}

/// One value of an input: the word at which it lies in the row, the variable, the element.
pub(crate) type InputValue = (u32, VarId, LanePlace);

/// The element `first + per_lane * lane` of an array, or `last` for lanes for which that would be beyond it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LanePlace {
    pub first: u32,
    pub per_lane: u32,
    pub last: Option<u32>,
}

/// The `i32` `first + per_lane * lane`, or `last` where that is more.
#[derive(Clone, Copy, Default)]
struct Affine {
    first: i64,
    per_lane: i64,
    last: Option<i64>,
}

/// How an input value is read.
#[derive(Clone, Default)]
pub(crate) struct InputUse {
    count: u32,
    looped: bool,
}

impl InputUse {
    /// Is it worth a variable, rather than a load from the buffer where it is read?
    pub(crate) fn named(&self) -> bool {
        self.looped || self.count > 1
    }
}

/// Which part of the program a block belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Init,
    Prologue,
    Step,
    Sample,
    Finish,
    Function,
}

struct Walk<'a> {
    program: &'a Program,
    usage: Usage,
    part: Part,
    loops: u32,
    called: Vec<FunctionId>,
    pending: Vec<ExprId>,
}

/// Walks the program.
pub(crate) fn usage(program: &Program, layout: &LaneLayout) -> Usage {
    let vars = program.vars.len();
    let mut walk = Walk {
        program,
        usage: Usage {
            assigned: VarMap::filled(0, vars),
            read: VarMap::filled(0, vars),
            dynamic: VarMap::filled(false, vars),
            dynamic_in_steps: VarMap::filled(false, vars),
            inputs: BTreeMap::new(),
            called: FunctionMap::filled(false, program.functions.len()),
            draws: [false; 3],
            world_draws: [false; 3],
            member: false,
            world: false,
            agent: [false; 2],
            step: false,
            stops: false,
            across: HashSet::new(),
            shuffles: false,
            across_finish: false,
            is_split: layout.is_split(),
            lets: HashMap::new(),
        },
        part: Part::Init,
        loops: 0,
        called: Vec::new(),
        pending: Vec::new(),
    };
    if layout.is_split() {
        let blocks = program.agent_blocks();
        walk.usage.lets = blocks.flat_map(|block| names(block)).collect();
    }
    for (var, op) in &layout.accumulated {
        walk.usage.across.insert((*op, program[*var].ty));
    }
    if layout.splits_time() {
        walk.usage.across.insert((LaneOp::Sum, Type::U32));
    }
    walk.block(&program.init);
    walk.part = Part::Prologue;
    walk.block(&program.prologue);
    walk.part = Part::Step;
    walk.loops = 1;
    for phase in &program.phases {
        walk.block(phase);
    }
    walk.part = Part::Sample;
    for sample in &program.samples {
        walk.block(&sample.body);
    }
    walk.part = Part::Finish;
    walk.loops = 0;
    for phase in &program.ends {
        walk.block(phase);
    }
    walk.block(&program.finish);
    walk.part = Part::Function;
    while let Some(id) = walk.called.pop() {
        walk.block(&program[id].body);
    }
    walk.usage
}

impl Walk<'_> {
    fn block(&mut self, block: &Block) {
        // Inlining nests blocks deeper than any model's text does.
        stacker::maybe_grow(32 << 10, 1 << 20, || self.statements(block));
    }

    fn statements(&mut self, block: &Block) {
        for stmt in block {
            if let Stmt::AssignElement { var, index, value } = stmt {
                self.index(*var, *index);
                self.expr(*value);
            } else {
                (stmt.roots().iter()).for_each(|&root| self.expr(root));
            }
            if let Stmt::Assign { var, .. } | Stmt::AssignElement { var, .. } = stmt {
                self.usage.assigned[var] += 1;
            }
            self.usage.stops |= matches!(stmt, Stmt::Stop);
            let repeats = u32::from(matches!(stmt, Stmt::For { .. }));
            self.loops += repeats;
            (stmt.blocks()).for_each(|inner| self.block(inner));
            self.loops -= repeats;
        }
    }

    fn expr(&mut self, root: ExprId) {
        let program = self.program;
        self.pending.push(root);
        while let Some(id) = self.pending.pop() {
            let expr = &program[id];
            match expr {
                Expr::Element { array, index } => {
                    self.usage.read[array] += 1;
                    self.index(*array, *index);
                    continue;
                }
                Expr::Read(var) => {
                    self.usage.read[var] += 1;
                    self.input(*var, LanePlace::default());
                }
                Expr::Launch(number) => self.launch(*number),
                Expr::Call(function, _) => {
                    let seen = &mut self.usage.called[function];
                    if !std::mem::replace(seen, true) {
                        self.called.push(*function);
                    }
                }
                Expr::RandomWord { owner, .. } => self.draw(*owner),
                Expr::AcrossLanes { op, value, .. } => {
                    let ty = program.type_of(*value);
                    self.usage.across.insert((*op, ty));
                    self.usage.across_finish |= self.part == Part::Finish;
                }
                Expr::Shuffle { .. } => {
                    self.usage.shuffles = true;
                    self.usage.across_finish |= self.part == Part::Finish;
                }
                Expr::Literal(_)
                | Expr::Double(_)
                | Expr::Rows(_)
                | Expr::Swizzle { .. }
                | Expr::Compose(_)
                | Expr::Splat { .. }
                | Expr::Unary(..)
                | Expr::Binary(..)
                | Expr::Select { .. }
                | Expr::Convert { .. }
                | Expr::Bitcast { .. }
                | Expr::Builtin(..)
                | Expr::Other { .. }
                | Expr::AcrossWorld { .. } => {}
            }
            self.pending.extend_from_slice(&expr.operands());
        }
    }

    fn index(&mut self, array: VarId, index: ExprId) {
        if let Some(place) = self.usage.lane_place(self.program, array, index) {
            self.input(array, place);
        } else {
            self.usage.dynamic[array] = true;
            self.usage.dynamic_in_steps[array] |= self.part == Part::Step;
            self.pending.push(index);
        }
    }

    fn input(&mut self, id: VarId, place: LanePlace) {
        let var = &self.program[id];
        if var.kind == VarKind::Input {
            let word = var.word + place.first * var.ty.words();
            let entry = self.usage.inputs.entry((word, id, place)).or_default();
            entry.count += 1;
            entry.looped |= self.loops > 0;
        }
    }

    fn launch(&mut self, number: Launch) {
        match number {
            Launch::Agent => {
                self.usage.agent[0] = true;
                self.usage.agent[1] |= self.part == Part::Function;
            }
            Launch::Step => self.usage.step = true,
            Launch::Member => self.usage.member |= self.part == Part::Function,
            Launch::World => self.usage.world |= self.part == Part::Function,
            Launch::Agents | Launch::Steps | Launch::Members | Launch::Lane { .. } => {}
        }
    }

    fn draw(&mut self, owner: Owner) {
        let draws = match owner {
            Owner::Agent => &mut self.usage.draws,
            Owner::World => &mut self.usage.world_draws,
        };
        match self.part {
            Part::Init => draws[0] = true,
            Part::Step => draws[1] = true,
            Part::Finish => draws[2] = true,
            // The verifier allows none there: a draw depends on the step.
            Part::Prologue | Part::Sample | Part::Function => {}
        }
    }
}

impl Usage {
    /// The element that an index selects, if it is known when the text is written: a literal, or for inputs
    /// one that advances by whole rows from lane to lane.
    pub(crate) fn lane_place(
        &self,
        program: &Program,
        array: VarId,
        index: ExprId,
    ) -> Option<LanePlace> {
        if let Expr::Literal(Value::I32(k)) = program[index] {
            return Some(LanePlace {
                first: k as u32,
                ..LanePlace::default()
            });
        }
        let var = &program[array];
        if !self.is_split || var.kind != VarKind::Input {
            return None;
        }
        let place = self.affine(program, index)?;
        let words = i64::from(var.ty.words());
        let further = place.last.map_or(0, |last| last - place.first);
        let whole_rows = [place.per_lane, further]
            .iter()
            .all(|elements| (elements * words) % i64::from(VEC4_WORDS) == 0);
        let ahead = place.first >= 0 && place.per_lane >= 0 && further >= 0;
        (ahead && whole_rows).then_some(LanePlace {
            first: place.first as u32,
            per_lane: place.per_lane as u32,
            last: place.last.map(|last| last as u32),
        })
    }

    fn affine(&self, program: &Program, id: ExprId) -> Option<Affine> {
        if let Expr::Literal(Value::I32(k)) = program[id] {
            Some(Affine {
                first: i64::from(k),
                ..Affine::default()
            })
        } else if let Expr::Launch(Launch::Lane { .. }) = program[id] {
            Some(Affine {
                per_lane: 1,
                ..Affine::default()
            })
        } else if let Expr::Read(var) = program[id] {
            self.affine(program, *self.lets.get(&var)?)
        } else if let Expr::Binary(op, a, b) = program[id] {
            combined(op, self.affine(program, a)?, self.affine(program, b)?)
        } else if let Expr::Builtin(BuiltinId::MIN, args) = &program[id] {
            let (a, b) = (
                self.affine(program, args[0])?,
                self.affine(program, args[1])?,
            );
            let bound = a.last.is_none() && b.last.is_none() && b.per_lane == 0;
            bound.then_some(Affine {
                last: Some(b.first),
                ..a
            })
        } else {
            None
        }
    }
}

/// The result of an operator on two such numbers.
fn combined(op: BinaryOp, a: Affine, b: Affine) -> Option<Affine> {
    let scaled = |it: Affine, by: i64| Affine {
        first: it.first * by,
        per_lane: it.per_lane * by,
        last: None,
    };
    let unbounded = a.last.is_none() && b.last.is_none();
    if op == BinaryOp::Add {
        let last = match (a.last, b.last) {
            (None, None) => None,
            (Some(last), None) if b.per_lane == 0 => Some(last + b.first),
            (None, Some(last)) if a.per_lane == 0 => Some(last + a.first),
            (Some(_), None) | (None, Some(_)) | (Some(_), Some(_)) => return None,
        };
        Some(Affine {
            first: a.first + b.first,
            per_lane: a.per_lane + b.per_lane,
            last,
        })
    } else if op == BinaryOp::Subtract && b.last.is_none() {
        combined(BinaryOp::Add, a, scaled(b, -1))
    } else if op == BinaryOp::Multiply && a.per_lane == 0 && unbounded {
        Some(scaled(b, a.first))
    } else if op == BinaryOp::Multiply && b.per_lane == 0 && unbounded {
        Some(scaled(a, b.first))
    } else {
        None
    }
}
