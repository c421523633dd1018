//! Finds the places of a file that can be mutated: the kinds of `cargo mutants`, and statements left out.

use proc_macro2::Span;
use std::ops::Range;
use syn::{
    Attribute, BinOp, Block, Expr, ExprBinary, ExprMatch, ExprUnary, ImplItemFn, Item, ItemFn,
    ItemImpl, Meta, Pat, ReturnType, Signature, Stmt, TraitItemFn, UnOp,
    spanned::Spanned,
    visit::{self, Visit},
};

/// What a mutant changes.
#[derive(Clone, Debug)]
pub enum Change {
    /// An operator in place of another, between two operands.
    Operator {
        left: Range<usize>,
        right: Range<usize>,
        old: String,
        new: &'static str,
    },
    /// The operand alone.
    Unary { operand: Range<usize>, old: String },
    /// A function that returns a value at once.
    Body { value: String },
    /// A guard that always or never lets its arm be taken.
    Guard { always: bool },
    /// An arm without a guard that is never taken; another takes everything.
    Arm,
    /// A statement that does not run.
    Statement,
}

/// A place and what happens there. Sites nest or are apart; those of one range are alternatives.
#[derive(Clone, Debug)]
pub struct Site {
    pub range: Range<usize>,
    pub line: usize,
    pub change: Change,
    /// For people.
    pub what: String,
}

/// Every mutant of a source.
pub fn sites(source: &str) -> Result<Vec<Site>, syn::Error> {
    let file = syn::parse_file(source)?;
    let mut finder = Finder {
        source,
        function: Vec::new(),
        found: Vec::new(),
    };
    finder.visit_file(&file);
    Ok(finder.found)
}

struct Finder<'s> {
    source: &'s str,
    /// Names of the functions around this place.
    function: Vec<String>,
    found: Vec<Site>,
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string().contains("test"),
        Meta::NameValue(_) => false,
    })
}

/// Does a condition bind names? Then it is no value.
fn binds(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(ExprBinary {
            op: BinOp::And(_),
            left,
            right,
            ..
        }) => binds(left) || binds(right),
        _ => false,
    }
}

impl Finder<'_> {
    fn add(&mut self, span: Span, range: Range<usize>, change: Change, what: &str) {
        let place = match self.function.last() {
            Some(function) => format!(" in {function}"),
            None => String::new(),
        };
        self.found.push(Site {
            range,
            line: span.start().line,
            change,
            what: format!("{what}{place}"),
        });
    }

    fn text(&self, span: Span) -> String {
        let text = &self.source[span.byte_range()];
        let short: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match short.char_indices().nth(60) {
            Some((end, _)) => format!("{} …", &short[..end]),
            None => short,
        }
    }

    fn function(&mut self, signature: &Signature, body: &Block) {
        self.function.push(signature.ident.to_string());
        if signature.constness.is_none() && !body.stmts.is_empty() {
            let start = body.brace_token.span.open().byte_range().end;
            for value in values_of(&signature.output) {
                let shown = if value.is_empty() { "()" } else { &value };
                let what = format!("body replaced by {shown}");
                let change = Change::Body { value };
                self.add(signature.ident.span(), start..start, change, &what);
            }
        }
        if signature.constness.is_none() {
            self.visit_block(body);
        }
        self.function.pop();
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            // Values of these are computed when the compiler runs.
            Item::Const(_) | Item::Static(_) | Item::Macro(_) | Item::Enum(_) | Item::Struct(_) => {
                return;
            }
            _ => return visit::visit_item(self, item),
        };
        if !is_test(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        // What is only printed for people who look for mistakes.
        let debug = (item.trait_.as_ref()).is_some_and(|(_, path, _)| {
            path.segments
                .last()
                .is_some_and(|last| last.ident == "Debug")
        });
        if !debug {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, body);
        }
    }

    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}

    fn visit_type(&mut self, _: &'ast syn::Type) {}

    fn visit_pat(&mut self, _: &'ast Pat) {}

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        if let Stmt::Expr(expr, Some(_)) = stmt
            && matches!(
                expr,
                Expr::MethodCall(_)
                    | Expr::Call(_)
                    | Expr::Assign(_)
                    | Expr::Break(_)
                    | Expr::Continue(_)
            )
        {
            let span = stmt.span();
            let what = format!("without `{}`", self.text(span));
            self.add(span, span.byte_range(), Change::Statement, &what);
        }
        visit::visit_stmt(self, stmt);
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        let span = binary.span();
        let old = self.text(binary.op.span());
        if !binds(&binary.left) && !binds(&binary.right) {
            for &new in others(&binary.op) {
                let what = format!("`{}` with {new}", self.text(span));
                let change = Change::Operator {
                    left: binary.left.span().byte_range(),
                    right: binary.right.span().byte_range(),
                    old: old.clone(),
                    new,
                };
                self.add(span, span.byte_range(), change, &what);
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast ExprUnary) {
        if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) {
            let span = unary.span();
            let change = Change::Unary {
                operand: unary.expr.span().byte_range(),
                old: self.text(unary.op.span()),
            };
            let what = format!("`{}` without its operator", self.text(span));
            self.add(span, span.byte_range(), change, &what);
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_match(&mut self, expr: &'ast ExprMatch) {
        let wild = |arm: &syn::Arm| matches!(arm.pat, Pat::Wild(_)) && arm.guard.is_none();
        let all = expr.arms.iter().any(wild);
        for arm in &expr.arms {
            let span = arm.pat.span();
            let shown = self.text(span);
            match &arm.guard {
                Some((_, guard)) if !binds(guard) => {
                    for always in [true, false] {
                        let what = format!("guard `{}` always {always}", self.text(guard.span()));
                        let range = guard.span().byte_range();
                        self.add(span, range, Change::Guard { always }, &what);
                    }
                }
                None if all && !wild(arm) => {
                    let end = span.byte_range().end;
                    self.add(
                        span,
                        end..end,
                        Change::Arm,
                        &format!("without the arm `{shown}`"),
                    );
                }
                _ => {}
            }
        }
        visit::visit_expr_match(self, expr);
    }
}

fn others(op: &BinOp) -> &'static [&'static str] {
    match op {
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::Lt(_) => &["==", ">", "<="],
        BinOp::Gt(_) => &["==", "<", ">="],
        BinOp::Le(_) => &[">", "<"],
        BinOp::Ge(_) => &["<", ">"],
        BinOp::Add(_) => &["-", "*"],
        BinOp::Sub(_) => &["+", "/"],
        BinOp::Mul(_) => &["+", "/"],
        BinOp::Div(_) => &["%", "*"],
        BinOp::Rem(_) => &["/", "+"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        BinOp::BitAnd(_) => &["|", "^"],
        BinOp::BitOr(_) => &["&", "^"],
        BinOp::BitXor(_) => &["|", "&"],
        BinOp::AddAssign(_) => &["-=", "*="],
        BinOp::SubAssign(_) => &["+=", "/="],
        BinOp::MulAssign(_) => &["+=", "/="],
        BinOp::DivAssign(_) => &["%=", "*="],
        BinOp::RemAssign(_) => &["/=", "+="],
        BinOp::BitAndAssign(_) => &["|="],
        BinOp::BitOrAssign(_) => &["&="],
        BinOp::BitXorAssign(_) => &["|="],
        BinOp::ShlAssign(_) => &[">>="],
        BinOp::ShrAssign(_) => &["<<="],
        _ => &[],
    }
}

/// What a function of this type may return in place of what it computes.
fn values_of(output: &ReturnType) -> Vec<String> {
    match output {
        ReturnType::Default => vec![String::new()],
        ReturnType::Type(_, ty) => values(ty),
    }
}

fn values(ty: &syn::Type) -> Vec<String> {
    match ty {
        syn::Type::Path(path) => {
            let Some(last) = path.path.segments.last() else {
                return Vec::new();
            };
            let inner: Vec<Vec<String>> = match &last.arguments {
                syn::PathArguments::AngleBracketed(list) => (list.args.iter())
                    .filter_map(|argument| match argument {
                        syn::GenericArgument::Type(ty) => Some(values(ty)),
                        _ => None,
                    })
                    .collect(),
                _ => Vec::new(),
            };
            let wrapped = |head: &str| -> Vec<String> {
                let list = inner.first().cloned().unwrap_or_default();
                list.iter()
                    .map(|value| format!("{head}({value})"))
                    .collect()
            };
            match last.ident.to_string().as_str() {
                "bool" => vec!["true".into(), "false".into()],
                "u8" | "u16" | "u32" | "u64" | "usize" => vec!["0".into(), "1".into()],
                "i8" | "i16" | "i32" | "i64" | "isize" => vec!["0".into(), "1".into(), "-1".into()],
                "f32" | "f64" => vec!["0.0".into(), "1.0".into(), "-1.0".into()],
                "String" => vec!["String::new()".into(), "\"xyzzy\".to_owned()".into()],
                "Option" => [vec!["None".to_owned()], wrapped("Some")].concat(),
                "Result" => wrapped("Ok"),
                "Box" => wrapped("Box::new"),
                "Vec" => {
                    let list = inner.first().cloned().unwrap_or_default();
                    let one = list.iter().map(|value| format!("vec![{value}]"));
                    std::iter::once("vec![]".to_owned()).chain(one).collect()
                }
                "Self" => Vec::new(),
                _ => vec!["Default::default()".into()],
            }
        }
        syn::Type::Tuple(tuple) if tuple.elems.is_empty() => vec!["()".into()],
        syn::Type::Tuple(tuple) => {
            let mut all = vec![String::new()];
            for element in &tuple.elems {
                let list = values(element);
                all = (all.iter())
                    .flat_map(|before| list.iter().map(move |value| format!("{before}{value}, ")))
                    .collect();
            }
            all.truncate(4);
            all.iter().map(|inner| format!("({inner})")).collect()
        }
        syn::Type::Reference(reference) if reference.mutability.is_none() => match &*reference.elem
        {
            syn::Type::Path(path) if path.path.is_ident("str") => {
                vec!["\"\"".into(), "\"xyzzy\"".into()]
            }
            syn::Type::Slice(_) => vec!["&[]".into()],
            _ => Vec::new(),
        },
        syn::Type::Array(array) => (values(&array.elem).iter())
            .map(|value| format!("std::array::from_fn(|_| {value})"))
            .collect(),
        _ => Vec::new(),
    }
}
