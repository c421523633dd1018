//! Names to ids, types to every expression, complaints to the user. The checker continues after a mistake: a
//! wrong expression gets `Type::Error`, which is compatible with every type, so that one mistake gives one
//! message. All that stands for a mistake holds the proof that it was reported (`Reported`), which only a
//! complaint gives: a mistake without a message cannot be represented.
//!
//! Order: names of all declarations (`item`), then types and constants, then params, data, inputs,
//! states, functions, blocks and outputs. Constants are folded while they are checked, because array
//! lengths need them.

mod call;
mod constant;
mod elements;
mod evaluate;
mod expr;
mod extent;
mod flow;
mod graph;
mod integrate;
mod item;
mod matching;
mod notes;
mod operator;
mod place;
mod stmt;
mod suggest;
mod ty;
mod whole;
mod world;

pub(crate) use constant::{ir_binary, ir_unary};
pub(crate) use flow::returns;
pub(crate) use ty::SCALARS;

use crate::{
    diagnostic::{Complaints, Diagnostic, Reported, catalog},
    hir::{
        self, Constant, DataId, EnumId, ExprId, ExprKind, FunctionId, InputId, LocalId, LocalKind,
        Model, ParamId, StateId, StructId, Type,
    },
    ir::Owner,
    names::Notes,
    span::Span,
    syntax::ast,
    value::RealType,
};
use std::collections::{HashMap, HashSet};

/// An expression, or the proof that a complaint says why there is none.
type Checked<T = ExprId> = Result<T, Reported>;

/// Checks a syntax tree. `prelude` holds functions written in the language itself that builtins call;
/// `unread` proves that a complaint was made of what could not be parsed, if the tree has any of that.
/// Constants are computed in `real`.
///
/// # Errors
/// The complaints, in source order; then there is no model. Nor is there one if the tree has holes, of which
/// only `unread` complains.
pub fn check(
    tree: &ast::Model,
    prelude: &ast::Model,
    unread: Option<Reported>,
    real: RealType,
) -> Result<Model, Vec<Diagnostic>> {
    let mut checker = Checker::new(tree, prelude, unread);
    checker.model.real = real;
    checker.run();
    if checker.complaints.is_empty() && unread.is_none() {
        return Ok(checker.model);
    }
    Err(checker.complaints.finish())
}

/// A syntax tree without mistakes as a model, and what its names refer to, but for types and values; none if
/// there is a mistake.
pub fn noted(tree: &ast::Model) -> Option<(Model, Notes)> {
    let prelude = ast::Model::default();
    let mut checker = Checker::new(tree, &prelude, None);
    checker.notebook.open = true;
    checker.run();
    let sound = checker.complaints.is_empty();
    sound.then_some((checker.model, checker.notebook.notes))
}

/// Checks a syntax tree, and records what its names refer to.
pub fn survey(tree: &ast::Model, unread: Option<Reported>) -> (Vec<Diagnostic>, Notes) {
    let prelude = ast::Model::default();
    let mut checker = Checker::new(tree, &prelude, unread);
    checker.notebook.open = true;
    checker.run();
    let notes = checker.take_notes();
    (checker.complaints.finish(), notes)
}

/// What a top-level name stands for.
#[derive(Clone, Copy, Debug)]
enum Global {
    Const(usize),
    Param(ParamId),
    Data(DataId),
    Input(InputId),
    State(StateId),
    Function(FunctionId),
    Struct(StructId),
    Enum(EnumId),
    /// Declared twice: compatible with everything.
    Broken(Reported),
}

/// What a name in a block refers to.
#[derive(Clone, Debug)]
enum Binding {
    Local(LocalId),
    /// The index of a comprehension that is being evaluated at compile time.
    Constant(Constant, Type),
}

/// A `const` and how far it has been evaluated.
#[derive(Clone, Debug)]
enum ConstState {
    Unknown,
    Running,
    Known(Constant, Type),
    Broken(Reported),
}

/// The context of an expression or statement: it decides what may be read or drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Constant,
    InputDefault,
    InputDraw,
    StateInit,
    Init,
    Step,
    Finish,
    Output,
    /// What is recorded or observed.
    Sample,
    Function(FunctionId),
}

impl Place {
    fn describe(self) -> &'static str {
        match self {
            Place::Constant => "a constant",
            Place::InputDefault | Place::InputDraw => "the default of an input",
            Place::StateInit => "the initial value of a state",
            Place::Init => "`init`",
            Place::Step => "`step`",
            Place::Finish => "`finish`",
            Place::Output => "an output",
            Place::Sample => "what is recorded or observed",
            Place::Function(_) => "a function",
        }
    }
}

/// A call of a function, for recursion and for draws that are known only once all bodies are checked.
#[derive(Clone, Copy, Debug)]
struct CallSite {
    caller: Option<FunctionId>,
    callee: FunctionId,
    span: Span,
    /// Why the callee must not draw here, if it must not.
    forbids_draw: Option<&'static str>,
    /// In the default of an input, where neither inputs nor tables can be read.
    before_launch: bool,
    /// The world code that it is in, where nothing of an agent can be read.
    in_world: Option<&'static str>,
    /// In an element of a fold over the world in world code, where no draw can be made.
    per_agent: bool,
}

struct Checker<'a> {
    tree: &'a ast::Model,
    prelude: &'a ast::Model,
    model: Model,
    /// The complaint about what could not be parsed.
    unread: Option<Reported>,
    complaints: Complaints,
    globals: HashMap<&'a str, (Global, Span)>,
    /// What the prelude declares; only the prelude itself can name it.
    prelude_functions: HashMap<&'a str, FunctionId>,
    variants: HashMap<&'a str, Vec<(EnumId, u32)>>,
    consts: Vec<(&'a ast::Item, ConstState)>,
    /// Names of outputs, which nothing reads.
    outputs: HashSet<&'a str>,
    function_items: Vec<&'a ast::Item>,
    scopes: Vec<HashMap<String, (Binding, Span)>>,
    /// Names that the current block declares further down, for "used before its declaration".
    later: Vec<HashMap<&'a str, Span>>,
    place: Place,
    /// Is this world code?
    of_world: bool,
    /// Elements and filters of folds over the world around the current expression, in world code.
    in_elements: bool,
    loops: u32,
    in_integrate: bool,
    /// In the condition of an `assert`?
    in_assert: bool,
    calls: Vec<CallSite>,
    constant_work: extent::ConstantWork,
    evaluation: evaluate::Evaluation,
    adapted: constant::Adapted,
    suggestions: suggest::Suggestions,
    /// By the place of a name: the declarations that began as whole numbers, and those that took their type
    /// from one of them.
    whole_numbers: HashMap<Span, whole::WholeNumber>,
    whole_copies: HashMap<Span, Span>,
    /// The states that functions were found to read, each told once per function.
    states_in_functions: HashMap<(FunctionId, StateId), Reported>,
    /// The place that the present `place op= e` assigns.
    target: Option<Span>,
    /// Where the variables of blocks are declared, once a message asks.
    locals_of_blocks: Option<HashMap<String, Span>>,
    /// Numbers that tests have given to params, tables and inputs.
    given_in_tests: u64,
    notebook: notes::Notebook,
}

impl<'a> Checker<'a> {
    fn new(tree: &'a ast::Model, prelude: &'a ast::Model, unread: Option<Reported>) -> Self {
        Checker {
            tree,
            prelude,
            model: Model {
                doc: tree.doc.clone(),
                ..Model::default()
            },
            unread,
            complaints: Complaints::default(),
            globals: HashMap::new(),
            prelude_functions: HashMap::new(),
            variants: HashMap::new(),
            consts: Vec::new(),
            outputs: HashSet::new(),
            function_items: Vec::new(),
            scopes: Vec::new(),
            later: Vec::new(),
            place: Place::Constant,
            of_world: false,
            in_elements: false,
            loops: 0,
            in_integrate: false,
            in_assert: false,
            calls: Vec::new(),
            constant_work: extent::ConstantWork::default(),
            evaluation: evaluate::Evaluation::default(),
            adapted: constant::Adapted::default(),
            suggestions: suggest::Suggestions::default(),
            whole_numbers: HashMap::new(),
            whole_copies: HashMap::new(),
            states_in_functions: HashMap::new(),
            target: None,
            locals_of_blocks: None,
            given_in_tests: 0,
            notebook: notes::Notebook::default(),
        }
    }

    fn run(&mut self) {
        self.declare_items();
        self.check_types();
        self.check_constants();
        self.check_params();
        self.check_data();
        self.check_signatures();
        self.check_inputs();
        self.check_states();
        self.check_functions();
        self.check_blocks();
        self.check_outputs();
        self.check_series();
        self.check_tests();
        self.check_calls();
        self.check_whole();
    }

    /// Is a place in the prelude? Its places are behind those of the source.
    fn is_of_prelude(&self, span: Span) -> bool {
        let first = self.prelude.items.first();
        first.is_some_and(|first| first.span.start <= span.start)
    }

    /// What a name before `(` refers to.
    fn callable(&self, name: &ast::Name) -> Option<(Global, Span)> {
        let text = name.text.as_str();
        if self.is_of_prelude(name.span) {
            let id = self.prelude_functions.get(text).copied()?;
            return Some((Global::Function(id), name.span));
        }
        self.globals.get(text).copied()
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        let (code, place) = (diagnostic.code, diagnostic.span());
        match self.in_evaluation(diagnostic) {
            Ok(complaint) => {
                let reported = self.complaints.add(complaint);
                self.evaluated(code, place, reported);
                reported
            }
            Err(reported) => reported,
        }
    }

    /// The complaint of a hole in the tree; one is made here if the parser made none.
    fn hole(&mut self, span: Span) -> Reported {
        match self.unread {
            Some(reported) => reported,
            None => self.report(catalog::syntax::unexpected_token(
                "something else",
                "this",
                span,
            )),
        }
    }

    fn node(&mut self, kind: ExprKind, ty: Type, span: Span) -> ExprId {
        let id = ExprId(self.model.exprs.len() as u32);
        self.model.exprs.push(hir::Expr { kind, ty, span });
        if !self.model.texts.is_empty() {
            // An expression that was there before it is gone.
            self.model.texts.remove(&id);
        }
        id
    }

    /// What replaces an expression that makes no sense.
    fn error(&mut self, span: Span, reported: Reported) -> ExprId {
        self.node(ExprKind::Error(reported), Type::Error(reported), span)
    }

    /// The expression, unless a mistake was reported in it.
    fn sound(&self, id: ExprId) -> Checked {
        match &self.model[id].kind {
            ExprKind::Error(reported) => Err(*reported),
            _ => self.ty(id).error().map_or(Ok(id), Err),
        }
    }

    fn constant_node(&mut self, constant: Constant, ty: Type, span: Span) -> ExprId {
        self.node(ExprKind::Constant(constant), ty, span)
    }

    fn ty(&self, id: ExprId) -> &Type {
        &self.model[id].ty
    }

    fn expr_span(&self, id: ExprId) -> Span {
        self.model[id].span
    }

    fn show(&self, ty: &Type) -> String {
        ty.show(&self.model)
    }

    fn constant(&self, id: ExprId) -> Option<&Constant> {
        match &self.model[id].kind {
            ExprKind::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    /// Declares a local in the innermost scope.
    fn declare(&mut self, name: &ast::Name, ty: Type, kind: LocalKind) -> LocalId {
        self.note_type(name.span, &ty);
        let id = LocalId(self.model.locals.len() as u32);
        self.model.locals.push(hir::Local {
            name: name.text.clone(),
            ty,
            kind,
            span: name.span,
        });
        self.bind(name, Binding::Local(id));
        id
    }

    fn bind(&mut self, name: &ast::Name, binding: Binding) {
        if ty::is_built_in(&name.text) {
            self.report(catalog::names::builtin_name(&name.text, name.span));
        }
        let scope = self.scopes.last_mut().expect("a block has opened a scope");
        if let Some((_, first)) = scope.insert(name.text.clone(), (binding, name.span)) {
            self.report(catalog::names::duplicate_declaration(
                &name.text, name.span, first,
            ));
        }
        if let Some(later) = self.later.last_mut() {
            later.remove(name.text.as_str());
        }
    }

    /// Binds a name of the innermost scope again, or for the first time.
    fn rebind(&mut self, name: &ast::Name, binding: Binding) {
        let scope = self.scopes.last_mut();
        match scope.and_then(|scope| scope.get_mut(name.text.as_str())) {
            Some((bound, _)) => *bound = binding,
            None => self.bind(name, binding),
        }
    }

    fn scoped<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        self.later.push(HashMap::new());
        let result = run(self);
        self.scopes.pop();
        self.later.pop();
        result
    }

    fn at_place<T>(&mut self, place: Place, run: impl FnOnce(&mut Self) -> T) -> T {
        self.at_place_of(Owner::Agent, place, run)
    }

    fn at_place_of<T>(
        &mut self,
        owner: Owner,
        place: Place,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = (self.place, self.of_world, self.in_elements);
        (self.place, self.of_world, self.in_elements) = (place, owner == Owner::World, false);
        let result = self.scoped(run);
        (self.place, self.of_world, self.in_elements) = before;
        result
    }

    /// What messages call the place.
    fn place_name(&self) -> &'static str {
        match self.place {
            Place::StateInit if self.of_world => "the initial value of a world state",
            Place::Step if self.of_world => "`world step`",
            Place::Output if self.of_world => "a world output",
            Place::Sample if self.of_world => "`world observe`",
            Place::InputDefault | Place::InputDraw if self.of_world => {
                "the default of a world input"
            }
            place => place.describe(),
        }
    }
}
