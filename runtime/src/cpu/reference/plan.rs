//! The layout that all agents share: where each variable is stored, and the order in which the nodes of each
//! expression are evaluated.

use super::Launch;
use sim_compiler::ir::{Block, ExprId, Len, Program, Stmt, VarKind};
use std::ops::Range;

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
    /// By `ExprId`: the part of `order` that evaluates it, if it is the root of a tree.
    trees: Vec<Range<usize>>,
}

impl Plan {
    pub(super) fn new(launch: &Launch<'_>) -> Plan {
        let program = launch.program;
        let mut plan = Plan {
            places: Vec::with_capacity(program.vars.len()),
            slots: 0,
            rows: vec![0; program.data.len()],
            order: Vec::with_capacity(program.exprs.len()),
            trees: vec![0..0; program.exprs.len()],
        };
        plan.place_variables(program);
        for (number, &var) in program.data.iter().enumerate() {
            plan.places[var.0 as usize] = Place::Table(number);
            if let Len::Open { stride } = program[var].len {
                let row_words = stride as usize * program[var].ty.components();
                plan.rows[number] = (launch.data[number].len() / row_words) as i32;
            }
        }
        let functions = program.functions.iter().map(|function| &function.body);
        let defaults = program.input_defaults.iter().map(|default| &default.body);
        program
            .agent_blocks()
            .chain(functions)
            .chain(defaults)
            .for_each(|block| plan.order_block(program, block));
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

    /// Uses a work list rather than recursion, because a model may nest blocks deeply.
    fn order_block(&mut self, program: &Program, block: &Block) {
        let mut blocks = vec![block];
        while let Some(block) = blocks.pop() {
            for stmt in block {
                match stmt {
                    Stmt::Let { value, .. }
                    | Stmt::Var {
                        value: Some(value), ..
                    }
                    | Stmt::Assign { value, .. }
                    | Stmt::Return(value) => self.order_tree(program, *value),
                    Stmt::AssignElement { index, value, .. } => {
                        self.order_tree(program, *index);
                        self.order_tree(program, *value);
                    }
                    Stmt::If {
                        condition,
                        accept,
                        reject,
                    } => {
                        self.order_tree(program, *condition);
                        blocks.push(accept);
                        blocks.push(reject);
                    }
                    Stmt::For {
                        start, end, body, ..
                    } => {
                        self.order_tree(program, *start);
                        self.order_tree(program, *end);
                        blocks.push(body);
                    }
                    Stmt::Var { value: None, .. } | Stmt::Break | Stmt::Continue | Stmt::Stop => {}
                }
            }
        }
    }

    /// Visits a node before its operands, last operand first, and reverses the order: operands, first to
    /// last, before their node.
    fn order_tree(&mut self, program: &Program, root: ExprId) {
        let start = self.order.len();
        let mut waiting = vec![root];
        while let Some(node) = waiting.pop() {
            self.order.push(node);
            waiting.extend_from_slice(&program[node].operands());
        }
        self.order[start..].reverse();
        self.trees[root.0 as usize] = start..self.order.len();
    }

    /// The nodes of the expression, operands before users.
    pub(super) fn tree(&self, root: ExprId) -> &[ExprId] {
        &self.order[self.trees[root.0 as usize].clone()]
    }
}
