//! The declarations of a tree, joined with what the checker noted.

use super::{Declaration, Kind, Names, Notes};
use crate::{
    span::Span,
    syntax::ast::{
        Block, Comprehension, Domain, Expr, ExprKind, Field, InputSource, Item, ItemKind, Model,
        Name, PatternKind, Range, Stmt, StmtKind, Test, TestPartKind, TestRelation, TestSource,
        Type, TypeKind,
    },
};

/// All declarations of a tree, and the uses that the checker noted.
pub(crate) fn collect(tree: &Model, notes: Notes, length: usize) -> Names {
    let mut collector = Collector {
        names: Names::default(),
        file: Span::new(0, length),
    };
    for item in &tree.items {
        collector.item(item);
    }
    let mut names = collector.names;
    for (index, declaration) in names.declarations.iter_mut().enumerate() {
        declaration.ty = notes.types.get(&declaration.span).cloned();
        declaration.value = notes.values.get(&declaration.span).cloned();
        names.by_place.entry(declaration.span).or_insert(index);
    }
    for (place, declared) in notes.uses {
        if let Some(index) = names.by_place.get(&declared) {
            names.uses.insert(place, *index);
        }
    }
    names.members = notes.members;
    names
}

struct Collector {
    names: Names,
    file: Span,
}

impl Collector {
    fn declare(&mut self, name: &Name, kind: Kind, whole: Span, scope: Span, typed: bool) -> usize {
        self.names.declarations.push(Declaration {
            name: name.text.clone(),
            kind,
            span: name.span,
            whole,
            scope,
            doc: String::new(),
            ty: None,
            value: None,
            typed,
            of_world: false,
            owner: None,
        });
        self.names.declarations.len() - 1
    }

    fn global(&mut self, item: &Item, name: &Name, kind: Kind, ty: Option<&Type>) -> usize {
        let scope = match kind {
            Kind::Output | Kind::Record | Kind::Observation | Kind::Test => Span::default(),
            _ => self.file,
        };
        let index = self.declare(name, kind, item.span, scope, ty.is_some());
        self.names.declarations[index].doc = item.doc.clone();
        self.names.declarations[index].of_world = item.of_world;
        if let Some(ty) = ty {
            self.ty(ty);
        }
        index
    }

    fn parts(&mut self, fields: &[Field], kind: Kind, owner: usize, scope: Span) {
        for field in fields {
            let whole = field.name.span.to(field.ty.span);
            let index = self.declare(&field.name, kind, whole, scope, true);
            self.names.declarations[index].owner = Some(owner);
            self.ty(&field.ty);
        }
    }

    fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Agents(value) | ItemKind::Steps(value) | ItemKind::World(value) => {
                self.expr(value);
            }
            ItemKind::Const { name, ty, value } => {
                self.global(item, name, Kind::Const, ty.as_ref());
                self.expr(value);
            }
            ItemKind::Param {
                name,
                ty,
                value,
                range,
            } => {
                self.global(item, name, Kind::Param, ty.as_ref());
                value.iter().for_each(|value| self.expr(value));
                range.iter().for_each(|range| self.range(range));
            }
            ItemKind::Data { name, ty } => {
                self.global(item, name, Kind::Data, Some(ty));
            }
            ItemKind::Input { name, ty, source } => {
                self.global(item, name, Kind::Input, ty.as_ref());
                match source {
                    InputSource::Required => {}
                    InputSource::Default(value) | InputSource::Drawn(value) => self.expr(value),
                }
            }
            ItemKind::State { name, ty, value } => {
                self.global(item, name, Kind::State, ty.as_ref());
                self.expr(value);
            }
            ItemKind::Output { name, ty, value } => {
                self.global(item, name, Kind::Output, ty.as_ref());
                value.iter().for_each(|value| self.expr(value));
            }
            ItemKind::Record {
                name,
                ty,
                value,
                every,
            }
            | ItemKind::Observe {
                name,
                ty,
                value,
                every,
            } => {
                let kind = match item.kind {
                    ItemKind::Record { .. } => Kind::Record,
                    _ => Kind::Observation,
                };
                self.global(item, name, kind, ty.as_ref());
                value.iter().for_each(|value| self.expr(value));
                every.iter().for_each(|every| self.expr(every));
            }
            ItemKind::Init(body) | ItemKind::Finish(body) => self.block(body),
            ItemKind::Step { index, body } => {
                if let Some(index) = index {
                    self.declare(index, Kind::Step, index.span, body.span, true);
                }
                self.block(body);
            }
            ItemKind::Test(test) => self.test(item, test),
            ItemKind::Fn(_) | ItemKind::Struct { .. } | ItemKind::Enum { .. } => self.parted(item),
            ItemKind::Error => {}
        }
    }

    fn test(&mut self, item: &Item, test: &Test) {
        self.global(item, &test.name, Kind::Test, None);
        for part in &test.parts {
            match &part.kind {
                TestPartKind::Agents(value)
                | TestPartKind::Steps(value)
                | TestPartKind::World(value)
                | TestPartKind::Seed(value)
                | TestPartKind::Param { value, .. }
                | TestPartKind::Data {
                    source: TestSource::Value(value),
                    ..
                }
                | TestPartKind::Input {
                    source: TestSource::Value(value),
                    ..
                } => self.expr(value),
                TestPartKind::Data { .. } | TestPartKind::Input { .. } | TestPartKind::Error => {}
                TestPartKind::Expect { value, relation } => {
                    self.expr(value);
                    match relation {
                        Some(TestRelation::Near {
                            value, tolerance, ..
                        }) => {
                            self.expr(value);
                            self.expr(tolerance);
                        }
                        Some(TestRelation::In(range)) => self.range(range),
                        None => {}
                    }
                }
            }
        }
    }

    /// Declarations with names within.
    fn parted(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Fn(function) => {
                let owner = self.global(item, &function.name, Kind::Function, None);
                let scope = function.body.span;
                self.parts(&function.params, Kind::Parameter, owner, scope);
                function.result.iter().for_each(|ty| self.ty(ty));
                self.block(&function.body);
            }
            ItemKind::Struct { name, fields } => {
                let owner = self.global(item, name, Kind::Struct, None);
                self.parts(fields, Kind::Field, owner, Span::default());
            }
            ItemKind::Enum { name, variants } => {
                let owner = self.global(item, name, Kind::Enum, None);
                for variant in variants {
                    let index = self.declare(variant, Kind::Variant, variant.span, self.file, true);
                    self.names.declarations[index].owner = Some(owner);
                }
            }
            _ => {}
        }
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.stmt(stmt, block.span.end);
        }
    }

    /// A name declared by a statement can be used from its end to that of the block.
    fn stmt(&mut self, stmt: &Stmt, end: u32) {
        match &stmt.kind {
            StmtKind::Let { name, ty, value } | StmtKind::Var { name, ty, value } => {
                let kind = match stmt.kind {
                    StmtKind::Let { .. } => Kind::Let,
                    _ => Kind::Var,
                };
                let scope = Span {
                    start: stmt.span.end,
                    end: end.max(stmt.span.end),
                };
                self.declare(name, kind, stmt.span, scope, ty.is_some());
                ty.iter().for_each(|ty| self.ty(ty));
                self.expr(value);
            }
            StmtKind::Assign { place, value, .. } => {
                self.expr(place);
                self.expr(value);
            }
            StmtKind::If {
                branches,
                otherwise,
            } => {
                for (condition, body) in branches {
                    self.expr(condition);
                    self.block(body);
                }
                otherwise.iter().for_each(|body| self.block(body));
            }
            StmtKind::For {
                index,
                domain,
                body,
            } => {
                self.domain(domain);
                self.declare(index, Kind::Index, index.span, body.span, true);
                self.block(body);
            }
            StmtKind::While {
                condition,
                limit,
                body,
            } => {
                self.expr(condition);
                limit.iter().for_each(|limit| self.expr(limit));
                self.block(body);
            }
            StmtKind::Match { value, arms } => {
                self.expr(value);
                for arm in arms {
                    for pattern in &arm.patterns {
                        if let PatternKind::Value(value) = &pattern.kind {
                            self.expr(value);
                        }
                    }
                    self.block(&arm.body);
                }
            }
            StmtKind::Return(value) => value.iter().for_each(|value| self.expr(value)),
            StmtKind::Integrate { dt, body, .. } => {
                self.expr(dt);
                self.block(body);
            }
            StmtKind::Assert { condition, .. } => self.expr(condition),
            StmtKind::Block(body) => self.block(body),
            StmtKind::Equation { value, .. } | StmtKind::Expr(value) => self.expr(value),
            StmtKind::Break | StmtKind::Continue | StmtKind::Stop | StmtKind::Error => {}
        }
    }

    fn domain(&mut self, domain: &Domain) {
        match domain {
            Domain::Range(range) => self.range(range),
            Domain::World(_) => {}
        }
    }

    fn range(&mut self, range: &Range) {
        self.expr(&range.start);
        self.expr(&range.end);
    }

    /// Lengths of arrays may hold comprehensions.
    fn ty(&mut self, ty: &Type) {
        if let TypeKind::Array(element, length) = &ty.kind {
            self.ty(element);
            length.iter().for_each(|length| self.expr(length));
        }
    }

    fn comprehension(&mut self, inner: &Comprehension) {
        self.domain(&inner.domain);
        let mut scope = inner.value.span;
        if let Some(filter) = &inner.filter {
            scope = scope.to(filter.span);
            self.expr(filter);
        }
        self.declare(&inner.index, Kind::Index, inner.index.span, scope, true);
        self.expr(&inner.value);
    }

    /// Only comprehensions declare; the parser bounds the depth.
    fn expr(&mut self, expr: &Expr) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.expr_inner(expr));
    }

    fn expr_inner(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(_)
            | ExprKind::Uint(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Name(_)
            | ExprKind::Error => {}
            ExprKind::Paren(inner) | ExprKind::Unary(_, inner) | ExprKind::Field(inner, _) => {
                self.expr(inner);
            }
            ExprKind::Binary(_, left, right)
            | ExprKind::Index(left, right)
            | ExprKind::Repeat(left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Call { args, .. } | ExprKind::Array(args) => {
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Bitcast { value, .. } => self.expr(value),
            ExprKind::Comprehension(inner) | ExprKind::Fold { over: inner, .. } => {
                self.comprehension(inner);
            }
            ExprKind::If {
                branches,
                otherwise,
            } => {
                for (condition, value) in branches {
                    self.expr(condition);
                    self.expr(value);
                }
                self.expr(otherwise);
            }
        }
    }
}
