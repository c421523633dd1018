//! The layout that all agents share: where each variable is stored, and the order in which the nodes of each
//! expression are evaluated.

use crate::ir::{Block, Expr, ExprId, Len, Program, Stmt, VarId, VarKind};
use std::{collections::HashSet, ops::Range};

/// Where the values of a variable are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// Values of the machine: the first one and their number.
    Slots { first: usize, count: usize },
    /// Elements of a table of the launch.
    Table(usize),
}

/// The layout of a launch.
#[derive(Debug)]
pub(super) struct Plan {
    /// By `VarId`.
    pub(super) places: Vec<Place>,
    /// The number of values of a machine.
    pub(super) slots: usize,
    /// The number of rows of each table.
    pub(super) rows: Vec<i32>,
    /// The nodes of all expressions, operands before users.
    order: Vec<ExprId>,
    /// By a statement's first expression: the part of `order` that evaluates all of the statement's.
    trees: Vec<Range<usize>>,
    /// The states and inputs that other agents read, and the place of each among an agent's published values.
    pub(super) published: Vec<(VarId, usize)>,
    /// The number of values that an agent publishes.
    pub(super) published_values: usize,
    /// The first expression of each statement that combines lanes or agents, at any depth.
    across: HashSet<ExprId>,
}

impl Plan {
    pub(super) fn new(program: &Program, data: &[&[u32]]) -> Plan {
        let mut plan = Plan {
            places: Vec::with_capacity(program.vars.len()),
            slots: 0,
            rows: vec![0; program.data.len()],
            order: Vec::with_capacity(program.exprs.len()),
            trees: vec![0..0; program.exprs.len()],
            published: Vec::new(),
            published_values: 0,
            across: HashSet::new(),
        };
        plan.place_variables(program);
        program.each_node(&mut |id| {
            if let Expr::Other { var, .. } = program[id] {
                plan.publish(program, var);
            }
        });
        for (number, &var) in program.data.iter().enumerate() {
            plan.places[var.0 as usize] = Place::Table(number);
            if let Len::Open { stride } = program[var].len {
                let row_words = (stride * program.words(program[var].ty)) as usize;
                plan.rows[number] = (data[number].len() / row_words) as i32;
            }
        }
        for section in program.sections() {
            plan.order_block(program, program.section(section));
        }
        plan
    }

    fn place_variables(&mut self, program: &Program) {
        for var in &program.vars {
            let count = match (var.kind, var.len) {
                (VarKind::Data, _) => 0,
                (_, Len::One) => 1,
                (_, Len::Fixed(count)) => count as usize,
                (_, Len::Open { .. }) => panic!("internal error: `{}` is no table", var.name),
            };
            let first = self.slots;
            self.places.push(Place::Slots { first, count });
            self.slots += count;
        }
    }

    fn publish(&mut self, program: &Program, var: VarId) {
        if self.published.iter().all(|(known, _)| *known != var) {
            self.published.push((var, self.published_values));
            self.published_values += match program[var].len {
                Len::One | Len::Open { .. } => 1,
                Len::Fixed(count) => count as usize,
            };
        }
    }

    /// Orders the trees of a block. Does it combine lanes or agents?
    fn order_block(&mut self, program: &Program, block: &Block) -> bool {
        let mut any = false;
        for stmt in block {
            // A model may nest blocks deeper than a thread's stack allows.
            any |= stacker::maybe_grow(32 << 10, 1 << 20, || self.order_statement(program, stmt));
        }
        any
    }

    fn order_statement(&mut self, program: &Program, stmt: &Stmt) -> bool {
        let roots = stmt.roots();
        let Some(&first) = roots.first() else {
            return false;
        };
        let (start, mut across) = (self.order.len(), false);
        for &root in roots.iter() {
            across |= self.order_tree(program, root);
        }
        self.trees[first.0 as usize] = start..self.order.len();
        for block in stmt.blocks() {
            across |= self.order_block(program, block);
        }
        if across {
            self.across.insert(first);
        }
        across
    }

    /// Visits a node before its operands, last operand first, and reverses the order: operands, first to
    /// last, before their node. Does it contain `AcrossLanes`?
    fn order_tree(&mut self, program: &Program, root: ExprId) -> bool {
        let start = self.order.len();
        let mut across = false;
        for node in program.nodes(root) {
            let expr = &program[node];
            across |= expr.crosses_lanes();
            self.order.push(node);
        }
        self.order[start..].reverse();
        across
    }

    /// Do lanes run the statement in lock-step whose first expression this is?
    pub(super) fn in_lock_step(&self, first: ExprId) -> bool {
        self.across.contains(&first)
    }

    /// The nodes of all expressions of that statement, operands before users.
    #[inline]
    pub(super) fn nodes(&self, first: ExprId) -> &[ExprId] {
        &self.order[self.trees[first.0 as usize].clone()]
    }
}
