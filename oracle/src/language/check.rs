//! The tree to a program: names, types, constants. It accepts every model that docs/language.md accepts,
//! and is not there to find mistakes: it may accept others.

mod call;
mod coerce;
mod expr;
mod series;
mod shared;
mod stmt;
mod world;

use super::machine;
use super::tree::{self, Expr, Model, Type};
use super::typed::{Body, Declared, Node, Phase, Program, Typed};
use super::value::{Structs, Ty, Value};
use std::collections::{HashMap, HashSet};

pub(super) type Outcome<T> = Result<T, String>;

/// A local variable.
#[derive(Clone, Debug)]
struct Local {
    slot: usize,
    ty: Ty,
}

/// What a name of the model is.
#[derive(Clone, Debug)]
enum Global {
    Param(usize, Ty),
    Data(usize, Ty),
    Input(usize, Ty),
    State(usize, Ty),
    WorldInput(usize, Ty),
    WorldState(usize, Ty),
}

struct Checker<'a> {
    tree: &'a Model,
    structs: Structs,
    globals: HashMap<String, Global>,
    known: HashMap<String, Typed>,
    /// Constants that are being evaluated.
    open: Vec<String>,
    /// The functions that the expression which is being checked calls.
    called: Vec<usize>,
    /// Types of parameters and result of each function.
    functions: Vec<(Vec<Ty>, Ty)>,
    scopes: Vec<HashMap<String, Local>>,
    slots: usize,
    /// The result of the function that is being checked.
    result: Option<Ty>,
    /// Does the model name what only worlds have?
    has_worlds: bool,
    /// Is this the code of a world?
    in_world: bool,
    /// Within how many folds over the world is this?
    folds: usize,
    /// Slots of this body whose values are of the world.
    shared: HashSet<usize>,
    /// Per function: has it what only an agent has?
    own: Vec<bool>,
}

/// The program of a tree.
///
/// # Errors
/// The first mistake that it notices.
pub fn check(tree: &Model) -> Outcome<Program> {
    let mut checker = Checker {
        tree,
        structs: Vec::new(),
        globals: HashMap::new(),
        known: HashMap::new(),
        open: Vec::new(),
        called: Vec::new(),
        functions: Vec::new(),
        scopes: Vec::new(),
        slots: 0,
        result: None,
        has_worlds: tree.world.is_some(),
        in_world: false,
        folds: 0,
        shared: HashSet::new(),
        own: Vec::new(),
    };
    checker.model()
}

impl Checker<'_> {
    fn model(&mut self) -> Outcome<Program> {
        let tree = self.tree;
        // Structs may use one another in any order: names first, then fields until nothing is left to do.
        self.structs = tree
            .structs
            .iter()
            .map(|(name, _)| (name.clone(), Vec::new()))
            .collect();
        for (k, (_, fields)) in tree.structs.iter().enumerate() {
            self.structs[k].1 = self.fields(fields)?;
        }
        let mut program = Program {
            agents: self.count(tree.agents.as_ref())?,
            steps: self.count(tree.steps.as_ref())?,
            world: self.count(tree.world.as_ref())?,
            ..Program::default()
        };
        for (k, value) in tree.params.iter().enumerate() {
            let declared = self.declared(value)?;
            let ty = declared.ty.clone();
            self.globals
                .insert(value.name.clone(), Global::Param(k, ty));
            program.params.push(declared);
        }
        for (k, value) in tree.data.iter().enumerate() {
            let declared = self.declared(value)?;
            let ty = declared.ty.clone();
            self.globals.insert(value.name.clone(), Global::Data(k, ty));
            program.data.push(declared);
        }
        self.inputs(&mut program)?;
        for k in 0..tree.functions.len() {
            let signature = self.signature(k)?;
            self.functions.push(signature);
        }
        self.states(&mut program)?;
        self.bodies(&mut program)?;
        self.outputs(&mut program)?;
        self.series(&mut program)?;
        program.has_worlds = self.has_worlds;
        program.structs = std::mem::take(&mut self.structs);
        Ok(program)
    }

    /// The types of the parameters and the result of a function.
    fn signature(&mut self, k: usize) -> Outcome<(Vec<Ty>, Ty)> {
        let function = &self.tree.functions[k];
        let params = self.fields(&function.params)?;
        let types = params.into_iter().map(|(_, ty)| ty).collect();
        Ok((types, self.ty(&function.result)?))
    }

    fn function(&mut self, k: usize) -> Outcome<Body> {
        let function = &self.tree.functions[k];
        let (types, result) = self.signature(k)?;
        let names = function.params.iter().map(|(name, _)| name.clone());
        let before = self.result.replace(result);
        let body = self.body(names.zip(types).collect(), &function.body);
        self.result = before;
        body
    }

    fn bodies(&mut self, program: &mut Program) -> Outcome<()> {
        let tree = self.tree;
        for k in 0..tree.functions.len() {
            program.functions.push(self.function(k)?);
        }
        self.own = shared::functions(&program.functions);
        for block in &tree.init {
            program.init.push(self.body(Vec::new(), block)?);
        }
        for phase in &tree.step {
            let name = phase.index.clone().unwrap_or_default();
            self.enter(phase.world);
            let body = self.body(vec![(name, Ty::I32)], &phase.body)?;
            self.enter(false);
            let world = phase.world;
            program.step.push(Phase { body, world });
        }
        for block in &tree.finish {
            program.finish.push(self.body(Vec::new(), block)?);
        }
        Ok(())
    }

    fn body(&mut self, params: Vec<(String, Ty)>, block: &[tree::Stmt]) -> Outcome<Body> {
        self.slots = 0;
        self.scopes = vec![HashMap::new()];
        self.shared.clear();
        for (name, ty) in params {
            // The number of the step; in functions no fold asks.
            let slot = self.declare(name, ty);
            self.shared.insert(slot);
        }
        let steps = self.block(block)?;
        self.scopes.clear();
        Ok(Body {
            steps,
            slots: self.slots,
        })
    }

    fn declare(&mut self, name: String, ty: Ty) -> usize {
        let slot = self.slots;
        self.slots += 1;
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, Local { slot, ty });
        }
        slot
    }

    fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        self.scopes.push(HashMap::new());
        let outcome = inside(self);
        self.scopes.pop();
        outcome
    }

    fn count(&mut self, value: Option<&Expr>) -> Outcome<Option<u32>> {
        let Some(value) = value else { return Ok(None) };
        match self.constant(value)?.node {
            Node::Known(Value::Whole(count)) => Ok(u32::try_from(count).ok()),
            Node::Known(Value::I(count)) => Ok(u32::try_from(count).ok()),
            Node::Known(Value::U(count)) => Ok(Some(count)),
            other => Err(format!("{other:?} is no count")),
        }
    }

    fn fields(&mut self, fields: &[(String, Type)]) -> Outcome<Vec<(String, Ty)>> {
        let field = |(name, ty): &(String, Type)| Ok((name.clone(), self.ty(ty)?));
        fields.iter().map(field).collect()
    }

    fn ty(&mut self, ty: &Type) -> Outcome<Ty> {
        Ok(match ty {
            Type::Array(element, None) => Ty::Open(Box::new(self.ty(element)?)),
            Type::Array(element, Some(length)) => {
                let element = self.ty(element)?;
                Ty::Array(Box::new(element), self.length(length)?)
            }
            Type::Name(name) => match name.as_str() {
                "f32" => Ty::F32,
                "i32" => Ty::I32,
                "u32" => Ty::U32,
                "bool" => Ty::Bool,
                "vec2" => Ty::Vector(2),
                "vec3" => Ty::Vector(3),
                "vec4" => Ty::Vector(4),
                _ => self.named(name)?,
            },
        })
    }

    fn named(&self, name: &str) -> Outcome<Ty> {
        let is = |other: &String| other == name;
        let structs = self.structs.iter().position(|(other, _)| is(other));
        let enums = self.tree.enums.iter().position(|(other, _)| is(other));
        let found = structs.map(Ty::Struct).or(enums.map(Ty::Enum));
        found.ok_or(format!("no type `{name}`"))
    }

    fn length(&mut self, length: &Expr) -> Outcome<usize> {
        let count = self.count(Some(length))?.unwrap_or(0) as usize;
        match count {
            0 => Err("a length of 0".into()),
            count => Ok(count),
        }
    }

    /// A constant expression: evaluated, still abstract if it is.
    fn constant(&mut self, expr: &Expr) -> Outcome<Typed> {
        let scopes = std::mem::take(&mut self.scopes);
        let slots = std::mem::take(&mut self.slots);
        let outer = std::mem::take(&mut self.called);
        self.scopes.push(HashMap::new());
        let typed = self.expr(expr);
        let called = std::mem::replace(&mut self.called, outer);
        let known = typed.and_then(|typed| self.evaluated(&typed, called));
        self.scopes = scopes;
        self.slots = slots;
        known
    }

    /// The value of an expression that calls these functions.
    fn evaluated(&mut self, typed: &Typed, called: Vec<usize>) -> Outcome<Typed> {
        let (slots, shared) = (self.slots, self.shared.clone());
        let outer = std::mem::replace(&mut self.called, called);
        let mut functions = vec![Body::default(); self.tree.functions.len()];
        let mut done = HashSet::new();
        while let Some(k) = self.called.pop() {
            if done.insert(k) {
                functions[k] = self.function(k)?;
            }
        }
        (self.shared, self.called) = (shared, outer);
        let value = machine::constant(typed, slots, &self.structs, &functions)?;
        Ok(Typed {
            ty: typed.ty.clone(),
            node: Node::Known(value),
        })
    }

    /// The value of a constant of the model, if the name is one.
    fn known(&mut self, name: &str) -> Outcome<Option<Typed>> {
        if let Some(known) = self.known.get(name) {
            return Ok(Some(known.clone()));
        }
        let tree = self.tree;
        let Some(declared) = tree.consts.iter().find(|value| value.name == name) else {
            return Ok(None);
        };
        if self.open.iter().any(|open| open == name) {
            return Err(format!("`{name}` depends on itself"));
        }
        self.open.push(name.to_owned());
        let value = declared.value.as_ref().ok_or("a constant without value")?;
        let mut typed = self.constant(value)?;
        if let Some(ty) = &declared.ty {
            let ty = self.ty(ty)?;
            typed = self.declared_in(typed, &ty)?;
            typed = self.evaluated(&typed, Vec::new())?;
        }
        self.open.pop();
        self.known.insert(name.to_owned(), typed.clone());
        Ok(Some(typed))
    }

    /// A declaration whose expression stands alone.
    fn declared(&mut self, value: &tree::Value) -> Outcome<Declared> {
        let ty = value.ty.as_ref().map(|ty| self.ty(ty)).transpose()?;
        self.declared_as(value, ty)
    }

    fn declared_as(&mut self, value: &tree::Value, ty: Option<Ty>) -> Outcome<Declared> {
        self.slots = 0;
        self.scopes = vec![HashMap::new()];
        self.shared.clear();
        let mut typed = value
            .value
            .as_ref()
            .map(|expr| self.expr(expr))
            .transpose()?;
        if let Some(some) = typed {
            let wanted = ty.clone().unwrap_or_else(|| some.ty.concrete());
            typed = Some(self.declared_in(some, &wanted)?);
        }
        self.scopes.clear();
        let of_value = typed.as_ref().map(|typed| typed.ty.clone());
        Ok(Declared {
            name: value.name.clone(),
            ty: ty
                .or(of_value)
                .ok_or(format!("`{}` has no type", value.name))?,
            value: typed,
            slots: self.slots,
            drawn: value.drawn,
            number: 0,
        })
    }

    /// An input: one value may stand for all elements, and a distribution for a draw of each scalar.
    fn input(&mut self, value: &tree::Value) -> Outcome<Declared> {
        let written = value.ty.as_ref().map(|ty| self.ty(ty)).transpose()?;
        let Some(ty) = written else {
            return self.declared(value);
        };
        if value.drawn {
            let draw = self.declared_as(value, None)?;
            return Ok(Declared { ty, ..draw });
        }
        let mut element = &ty;
        loop {
            if let Ok(declared) = self.declared_as(value, Some(element.clone())) {
                return Ok(Declared { ty, ..declared });
            }
            match element {
                Ty::Array(inner, _) => element = inner,
                _ => break,
            }
        }
        Err(format!("the default of `{}` has another type", value.name))
    }
}
