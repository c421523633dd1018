//! The agents of the world: where they can be read, and what stands behind one.

use super::{Checked, Checker, Global, Place};
use crate::{
    diagnostic::catalog,
    hir::{AgentField, ExprId, ExprKind, Type},
    ir::{self, Launch, Owner},
    span::Span,
    syntax::ast,
};

impl Checker<'_> {
    /// The agents of the world are read here, by `world` at `span`.
    pub(super) fn agents_of_world(&mut self, span: Span) -> Checked<()> {
        let (place, help) = match self.place {
            _ if self.in_integrate => (
                "the body of `integrate`",
                "other agents have no stage values: read what is needed into a `let` before `integrate`",
            ),
            Place::Step | Place::Finish | Place::Output => return Ok(()),
            Place::Sample if self.of_world => return Ok(()),
            Place::Sample => (
                self.place_name(),
                "read them in `step`, into a state, and sample that",
            ),
            Place::Constant => return Err(self.not_constant(span)),
            Place::Function(_) => ("a function", "pass what it needs as an argument"),
            Place::InputDefault | Place::InputDraw | Place::StateInit | Place::Init => (
                self.place_name(),
                "other agents can be read in `step`, `finish`, outputs and `world step`",
            ),
        };
        Err(self.report(catalog::world::no_world_here(place, help, span)))
    }

    /// Something of the agent's own is read here.
    pub(super) fn own(&mut self, name: &str, field: bool, span: Span) -> Checked<()> {
        if let Place::Function(function) = self.place {
            self.model.functions[function.0 as usize].reads_agent = true;
        }
        if !self.of_world {
            return Ok(());
        }
        let early = !matches!(self.place, Place::Step | Place::Output | Place::Sample);
        let help = match (field, early) {
            (true, true) => {
                "the world's values come first: set this one in `world step`, from the agents"
                    .into()
            }
            (true, false) if self.in_elements => {
                format!("write `other.{name}`, if `other` names the agent")
            }
            (true, false) => {
                format!("write `mean(for other in world: other.{name})`, or `world[0].{name}`")
            }
            (false, true) => "`world.number` is the number of the world".to_owned(),
            (false, false) => {
                format!(
                    "`world.number` is the number of the world, `other.{name}` that of an agent"
                )
            }
        };
        let place = self.place_name();
        Err(self.report(catalog::world::many_agents(name, place, &help, span)))
    }

    /// `world[k]`
    pub(super) fn agent_at(&mut self, world: Span, index: &ast::Expr, span: Span) -> Checked {
        let legal = self.agents_of_world(world);
        let index = self.expr(index, Some(&Type::I32));
        let index = self.adapt_or_keep(index, &Type::I32)?;
        let index = self.sound(index)?;
        if !matches!(self.ty(index), Type::Value(ir::Type::I32 | ir::Type::U32)) {
            let (found, place) = (self.show(self.ty(index)), self.expr_span(index));
            return Err(self.report(catalog::types::mismatched_types(
                "an index", "i32", &found, place, None, None,
            )));
        }
        legal?;
        Ok(self.node(ExprKind::WorldAt(index), Type::Agent, span))
    }

    /// `world.number`
    pub(super) fn number_of_world(
        &mut self,
        world: Span,
        field: &ast::Name,
        span: Span,
    ) -> Checked {
        self.note_world(field.span);
        if field.text == "number" {
            return self.launch(Launch::World, "world.number", span);
        }
        let near = self.suggestions.nearest(&field.text, ["number"]);
        Err(self.report(match near {
            Some(_) => catalog::names::unknown_field("world", &field.text, field.span, near),
            None => catalog::world::world_as_value(world),
        }))
    }

    /// `other.x`
    pub(super) fn field_of_agent(
        &mut self,
        agent: ExprId,
        field: &ast::Name,
        span: Span,
    ) -> Checked {
        if self.in_integrate {
            let place = self.expr_span(agent);
            self.agents_of_world(place)?;
        }
        let name = field.text.as_str();
        let number = match name {
            "member" => Some(AgentField::Member),
            "agent" => Some(AgentField::Agent),
            _ => None,
        };
        if let Some(number) = number {
            return Ok(self.node(ExprKind::Of(agent, number), Type::I32, span));
        }
        let found = self.globals.get(name).copied();
        if let Some((_, declared)) = found {
            self.note(field.span, declared);
        }
        let of_world = "one of the world: write its name alone";
        let what = match found {
            Some((Global::Broken(reported), _)) => return Err(reported),
            Some((Global::State(id), _)) => match self.model.states.get(id.0 as usize) {
                Some(state) if state.owner == Owner::Agent => {
                    let ty = state.ty.clone();
                    let kind = ExprKind::Of(agent, AgentField::State(id));
                    return Ok(self.node(kind, ty, span));
                }
                Some(_) => Some(of_world),
                None => None,
            },
            Some((Global::Input(id), _)) => match self.model.inputs.get(id.0 as usize) {
                Some(input) if input.owner == Owner::Agent => {
                    let ty = input.ty.clone();
                    let kind = ExprKind::Of(agent, AgentField::Input(id));
                    return Ok(self.node(kind, ty, span));
                }
                Some(_) => Some(of_world),
                None => None,
            },
            Some((Global::Param(_) | Global::Data(_) | Global::Const(_), _)) => {
                Some("the same for all agents: write its name alone")
            }
            Some((Global::Function(_) | Global::Struct(_) | Global::Enum(_), _)) => None,
            None if self.outputs.contains(name) => {
                Some("an output is evaluated last; nothing reads it")
            }
            None => None,
        };
        let states = self.model.states.iter();
        let inputs = self.model.inputs.iter();
        let states = states.map(|state| (state.owner, state.name.as_str()));
        let inputs = inputs.map(|input| (input.owner, input.name.as_str()));
        let fields = states
            .chain(inputs)
            .filter(|(owner, _)| *owner == Owner::Agent);
        let names = fields.map(|(_, name)| name).chain(["member", "agent"]);
        let near = self.suggestions.nearest(name, names);
        let report = catalog::world::not_of_agent(name, what, field.span, near);
        Err(self.report(report))
    }

    /// The expression, unless it is an agent, which only a `let` can keep.
    pub(super) fn no_agent(&mut self, id: ExprId) -> ExprId {
        if *self.ty(id) != Type::Agent {
            return id;
        }
        let span = self.expr_span(id);
        let reported = self.report(catalog::world::agent_as_value(span));
        self.error(span, reported)
    }
}
