//! Names to ids, types to every expression, complaints to the user. The checker goes on after a mistake:
//! what is wrong becomes `Type::Error`, which fits everywhere, so that one mistake gives one message.
//!
//! Order: names of all declarations (`item`), then types and constants, then params, data, inputs,
//! states, functions, blocks and outputs. Constants are folded while they are checked, because array
//! lengths need them.

mod call;
mod constant;
mod expr;
mod extent;
mod flow;
mod integrate;
mod item;
mod matching;
mod notes;
mod operator;
mod place;
mod stmt;
mod suggest;
mod ty;

pub(crate) use constant::{ir_binary, ir_unary};
pub(crate) use flow::returns;
pub(crate) use ty::SCALARS;

use crate::{
    diagnostic::{Diagnostic, catalog},
    hir::{
        self, Constant, DataId, EnumId, ExprId, ExprKind, FunctionId, InputId, LocalId, LocalKind,
        Model, ParamId, StateId, StructId, Type,
    },
    names::Notes,
    span::Span,
    syntax::ast,
};
use std::collections::HashMap;

/// Checks a syntax tree; `prelude` holds functions written in the language itself that builtins call.
///
/// # Errors
/// The complaints, in source order; then there is no model.
pub fn check(tree: &ast::Model, prelude: &ast::Model) -> Result<Model, Vec<Diagnostic>> {
    let mut checker = Checker::new(tree, prelude);
    checker.run();
    if checker.diagnostics.is_empty() {
        return Ok(checker.model);
    }
    Err(checker.complaints())
}

/// Checks a syntax tree, and notes what its names stand for.
pub fn survey(tree: &ast::Model) -> (Vec<Diagnostic>, Notes) {
    let prelude = ast::Model::default();
    let mut checker = Checker::new(tree, &prelude);
    checker.notebook.open = true;
    checker.run();
    let notes = checker.take_notes();
    (checker.complaints(), notes)
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
    /// Declared twice, as a complaint says: fits everywhere.
    Broken,
}

/// What a name in a block stands for.
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
    Broken,
}

/// The kind of place that an expression or statement stands in: decides what may be read or drawn.
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
            Place::Function(_) => "a function",
        }
    }
}

/// A call of a function, for recursion and for draws that only show once all bodies are known.
#[derive(Clone, Copy, Debug)]
struct CallSite {
    caller: Option<FunctionId>,
    callee: FunctionId,
    span: Span,
    /// Why the callee must not draw here, if it must not.
    forbids_draw: Option<&'static str>,
    /// In the default of an input, where neither inputs nor tables can be read.
    before_launch: bool,
}

struct Checker<'a> {
    tree: &'a ast::Model,
    prelude: &'a ast::Model,
    model: Model,
    diagnostics: Vec<Diagnostic>,
    globals: HashMap<&'a str, (Global, Span)>,
    /// What the prelude declares; only the prelude itself can name it.
    prelude_functions: HashMap<&'a str, FunctionId>,
    variants: HashMap<&'a str, Vec<(EnumId, u32)>>,
    consts: Vec<(&'a ast::Item, ConstState)>,
    function_items: Vec<&'a ast::Item>,
    scopes: Vec<HashMap<String, (Binding, Span)>>,
    /// Names that the current block declares further down, for "used before its declaration".
    later: Vec<HashMap<&'a str, Span>>,
    place: Place,
    loops: u32,
    in_integrate: bool,
    calls: Vec<CallSite>,
    /// Numbers of constants computed so far.
    constant_numbers: u64,
    notebook: notes::Notebook,
}

impl<'a> Checker<'a> {
    fn new(tree: &'a ast::Model, prelude: &'a ast::Model) -> Self {
        Checker {
            tree,
            prelude,
            model: Model {
                doc: tree.doc.clone(),
                ..Model::default()
            },
            diagnostics: Vec::new(),
            globals: HashMap::new(),
            prelude_functions: HashMap::new(),
            variants: HashMap::new(),
            consts: Vec::new(),
            function_items: Vec::new(),
            scopes: Vec::new(),
            later: Vec::new(),
            place: Place::Constant,
            loops: 0,
            in_integrate: false,
            calls: Vec::new(),
            constant_numbers: 0,
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
        self.check_calls();
        self.check_whole();
    }

    /// Does a place belong to the prelude? Its places lie behind those of the source.
    fn is_of_prelude(&self, span: Span) -> bool {
        let first = self.prelude.items.first();
        first.is_some_and(|first| first.span.start <= span.start)
    }

    /// What a name before `(` stands for.
    fn callable(&self, name: &ast::Name) -> Option<(Global, Span)> {
        let text = name.text.as_str();
        if self.is_of_prelude(name.span) {
            let id = self.prelude_functions.get(text).copied()?;
            return Some((Global::Function(id), name.span));
        }
        self.globals.get(text).copied()
    }

    /// The complaints, in the order of the source.
    fn complaints(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.span());
        // The place of `place += value` is checked twice.
        self.diagnostics.dedup();
        self.diagnostics
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn node(&mut self, kind: ExprKind, ty: Type, span: Span) -> ExprId {
        self.model.exprs.push(hir::Expr { kind, ty, span });
        ExprId(self.model.exprs.len() as u32 - 1)
    }

    fn error(&mut self, span: Span) -> ExprId {
        self.node(ExprKind::Error, Type::Error, span)
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

    fn scoped<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(HashMap::new());
        self.later.push(HashMap::new());
        let result = run(self);
        self.scopes.pop();
        self.later.pop();
        result
    }

    fn at_place<T>(&mut self, place: Place, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.place, place);
        let result = self.scoped(run);
        self.place = before;
        result
    }
}
