//! Worlds: docs/language.md, "Worlds". Declarations of the world beside those of agents, and agents of the
//! world in expressions.

use super::super::tree::{self, Expr};
use super::super::typed::{Field, Node, Over, Program, Typed};
use super::super::value::Ty;
use super::expr::typed;
use super::{Checker, Global, Outcome};

impl Checker<'_> {
    /// What follows is the code of a world, or of agents.
    pub(super) fn enter(&mut self, world: bool) {
        self.in_world = world;
        self.has_worlds |= world;
    }

    pub(super) fn inputs(&mut self, program: &mut Program) -> Outcome<()> {
        let tree = self.tree;
        for (number, value) in (0..).zip(&tree.inputs) {
            self.enter(value.world);
            let mut declared = self.input(value)?;
            declared.number = number;
            let ty = declared.ty.clone();
            let (list, global): (_, fn(usize, Ty) -> Global) = match value.world {
                true => (&mut program.world_inputs, Global::WorldInput),
                false => (&mut program.inputs, Global::Input),
            };
            let global = global(list.len(), ty);
            list.push(declared);
            self.globals.insert(value.name.clone(), global);
        }
        self.enter(false);
        Ok(())
    }

    /// Those of the world first: agents may use them all.
    pub(super) fn states(&mut self, program: &mut Program) -> Outcome<()> {
        let tree = self.tree;
        for value in tree.states.iter().filter(|value| value.world) {
            self.enter(true);
            let declared = self.declared(value)?;
            let global = Global::WorldState(program.world_states.len(), declared.ty.clone());
            program.world_states.push(declared);
            self.globals.insert(value.name.clone(), global);
        }
        self.enter(false);
        for value in tree.states.iter().filter(|value| !value.world) {
            let declared = self.declared(value)?;
            let global = Global::State(program.states.len(), declared.ty.clone());
            program.states.push(declared);
            self.globals.insert(value.name.clone(), global);
        }
        Ok(())
    }

    pub(super) fn outputs(&mut self, program: &mut Program) -> Outcome<()> {
        let tree = self.tree;
        for value in &tree.outputs {
            let short = tree::Value {
                value: Some(Expr::Name(value.name.clone())),
                ..value.clone()
            };
            let full = if value.value.is_some() { value } else { &short };
            self.enter(value.world);
            let declared = self.declared(full)?;
            match value.world {
                true => program.world_outputs.push(declared),
                false => program.outputs.push(declared),
            }
        }
        self.enter(false);
        Ok(())
    }

    /// `agent`, `member`: an agent's own numbers.
    pub(super) fn own_number(&mut self, name: &str) -> Outcome<Option<Typed>> {
        let node = match name {
            "agent" => Node::Agent,
            "member" => Node::Member,
            _ => return Ok(None),
        };
        if self.in_world {
            return Err(format!("`{name}` in the code of a world"));
        }
        self.has_worlds |= name == "member";
        Ok(Some(typed(Ty::I32, node)))
    }

    /// `world[k]`
    pub(super) fn at(&mut self, index: &Expr) -> Outcome<Typed> {
        self.has_worlds = true;
        let index = self.expr_concrete(index)?;
        Ok(typed(Ty::Agent, Node::At(Box::new(index))))
    }

    /// `len(world)`
    pub(super) fn world_size(&mut self) -> Typed {
        self.has_worlds = true;
        typed(Ty::I32, Node::WorldSize)
    }

    /// `world.number`
    pub(super) fn of_world(&mut self, name: &str) -> Outcome<Typed> {
        self.has_worlds = true;
        match name {
            "number" => Ok(typed(Ty::I32, Node::WorldNumber)),
            _ => Err(format!("the world has no `{name}`")),
        }
    }

    /// `other.x`
    pub(super) fn of_agent(&self, agent: Typed, name: &str) -> Outcome<Typed> {
        let (ty, field) = match (name, self.globals.get(name)) {
            ("member", _) => (Ty::I32, Field::Member),
            ("agent", _) => (Ty::I32, Field::Agent),
            (_, Some(Global::State(k, ty))) => (ty.clone(), Field::State(*k)),
            (_, Some(Global::Input(k, ty))) => (ty.clone(), Field::Input(*k)),
            _ => return Err(format!("an agent has no `{name}`")),
        };
        Ok(typed(ty, Node::Of(Box::new(agent), field)))
    }

    /// What a loop or a comprehension runs over, and the type of its index.
    pub(super) fn over(&mut self, over: &tree::Over) -> Outcome<(Over, Ty)> {
        let tree::Over::Range(from, to) = over else {
            self.has_worlds = true;
            return Ok((Over::World { shared: false }, Ty::Agent));
        };
        let from = self.expr_as(from, &Ty::I32)?;
        let to = self.expr_as(to, &Ty::I32)?;
        Ok((Over::Range(Box::new([from, to])), Ty::I32))
    }
}
