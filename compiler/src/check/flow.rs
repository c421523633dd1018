//! Checks that need all bodies: paths without `return`, recursion, draws where none may be.

use super::{CallSite, Checker, call::refused, graph};
use crate::{
    diagnostic::catalog,
    hir::{Stmt, StmtKind},
    span::Span,
};
use std::collections::{HashMap, VecDeque};

/// A message shows this many functions of a cycle.
const PATH_SHOWN: usize = 12;

/// Does every path through the block return?
pub(crate) fn returns(block: &[Stmt]) -> bool {
    block.last().is_some_and(|last| match &last.kind {
        StmtKind::Return(_) => true,
        StmtKind::If {
            branches,
            otherwise: Some(otherwise),
        } => branches.iter().all(|(_, body)| returns(body)) && returns(otherwise),
        StmtKind::Match { arms, .. } => {
            !arms.is_empty() && arms.iter().all(|arm| returns(&arm.body))
        }
        StmtKind::Block(body) => returns(body),
        StmtKind::Declare { .. }
        | StmtKind::Assign { .. }
        | StmtKind::If {
            otherwise: None, ..
        }
        | StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Stop
        | StmtKind::Integrate { .. }
        | StmtKind::Equation { .. }
        | StmtKind::Assert { .. } => false,
    })
}

impl Checker<'_> {
    /// Recursion, then draws through calls.
    pub(super) fn check_calls(&mut self) {
        let count = self.model.functions.len();
        let mut callees: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut spans: Vec<Vec<Span>> = vec![Vec::new(); count];
        for call in &self.calls {
            if let Some(caller) = call.caller {
                callees[caller.0 as usize].push(call.callee.0 as usize);
                spans[caller.0 as usize].push(call.span);
            }
        }
        let components = graph::components(&callees);
        if self.complain_of_circles(&callees, &spans, &components) {
            return;
        }
        let order: Vec<usize> = components.into_iter().flatten().collect();
        self.spread(&callees, &order);
        let calls: Vec<CallSite> = self.calls.clone();
        for call in calls {
            if let (Some(place), true) = (call.forbids_draw, self.model[call.callee].draws) {
                let name = self.model[call.callee].name.clone();
                self.report(refused(&name, place, call.span));
            }
            if call.per_agent && self.model[call.callee].draws {
                let name = self.model[call.callee].name.clone();
                self.report(catalog::world::draw_per_agent(&name, call.span));
            }
            if let (Some(place), true) = (call.in_world, self.model[call.callee].reads_agent) {
                let name = self.model[call.callee].name.clone();
                self.report(catalog::world::function_of_agent(&name, place, call.span));
            }
            let callee = &self.model[call.callee];
            if call.before_launch && (callee.reads_inputs || callee.reads_data) {
                let report = catalog::names::not_available_here(
                    &callee.name,
                    "this function reads inputs or tables",
                    "the default of an input",
                    call.span,
                );
                self.report(report);
            }
        }
        self.check_written_out(&callees, &order);
    }

    /// Complains of each set of functions that call one another in a cycle; true if there is one.
    fn complain_of_circles(
        &mut self,
        callees: &[Vec<usize>],
        spans: &[Vec<Span>],
        components: &[Vec<usize>],
    ) -> bool {
        let mut found = false;
        let mut component = vec![0; callees.len()];
        for (number, members) in components.iter().enumerate() {
            members
                .iter()
                .for_each(|&member| component[member] = number);
        }
        for members in components {
            let first = members.iter().copied().min().unwrap_or_default();
            let path = shortest_circle(callees, &component, first);
            let Some(path) = path else { continue };
            found = true;
            let names = path
                .iter()
                .map(|&index| self.model.functions[index].name.as_str());
            let mut names: Vec<&str> = names.collect();
            if names.len() > PATH_SHOWN {
                names.splice(PATH_SHOWN - 2..names.len() - 1, ["…"]);
            }
            let (last, name) = (path[path.len() - 2], names[0]);
            let mut calls = callees[last].iter().zip(&spans[last]);
            let call = calls.find(|(callee, _)| **callee == first);
            let span = call.map_or(self.model.functions[first].span, |(_, span)| *span);
            let report = catalog::control::recursion(name, &names.join(" → "), span);
            self.report(report);
        }
        found
    }

    /// A function draws, or reads inputs, if a callee does. There is no recursion here, and `order` has
    /// callees before callers.
    fn spread(&mut self, callees: &[Vec<usize>], order: &[usize]) {
        for &caller in order {
            for &callee in &callees[caller] {
                let inner = &self.model.functions[callee];
                let effects = [
                    inner.draws,
                    inner.reads_inputs,
                    inner.reads_data,
                    inner.reads_agent,
                    inner.asserts,
                ];
                let outer = &mut self.model.functions[caller];
                outer.draws |= effects[0];
                outer.reads_inputs |= effects[1];
                outer.reads_data |= effects[2];
                outer.reads_agent |= effects[3];
                outer.asserts |= effects[4];
            }
        }
    }
}

/// The shortest path from a node back to itself, both ends included; it stays within its component.
fn shortest_circle(
    callees: &[Vec<usize>],
    component: &[usize],
    first: usize,
) -> Option<Vec<usize>> {
    let mut before: HashMap<usize, usize> = HashMap::new();
    let mut queue = VecDeque::from([first]);
    while let Some(node) = queue.pop_front() {
        for &to in &callees[node] {
            if to == first {
                let mut path = vec![first, node];
                while let Some(&previous) = before.get(path.last()?) {
                    path.push(previous);
                }
                path.reverse();
                return Some(path);
            }
            if component[to] == component[first] && !before.contains_key(&to) {
                before.insert(to, node);
                queue.push_back(to);
            }
        }
    }
    None
}
