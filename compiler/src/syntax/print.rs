//! The tree as text, for `--emit ast`: declarations and statements one a line and indented, expressions
//! and types in parentheses with the operator first, so that the grouping shows.

use super::ast::{
    Block, Comprehension, Domain, Expr, ExprKind, Field, InputSource, Item, ItemKind, Model, Name,
    Pattern, PatternKind, Range, Stmt, StmtKind, Test, TestPartKind, TestRelation, TestSource,
    ToleranceUnit, Type, TypeKind,
};

/// The tree of a model.
///
/// ```
/// let parsed = sim_compiler::syntax::parse("const A = 1 + 2 * -x ** 2");
/// assert_eq!(
///     sim_compiler::syntax::print::ast(&parsed.model),
///     "const A = (+ 1 (* 2 (- (** x 2))))\n"
/// );
/// ```
pub fn ast(model: &Model) -> String {
    let mut printer = Printer {
        out: String::new(),
        depth: 0,
    };
    printer.docs("//!", &model.doc);
    for item in &model.items {
        printer.item(item);
    }
    printer.out
}

struct Printer {
    out: String,
    depth: usize,
}

impl Printer {
    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn docs(&mut self, mark: &str, doc: &str) {
        if !doc.is_empty() {
            for line in doc.split('\n') {
                self.line(&format!("{mark} {line}"));
            }
        }
    }

    fn item(&mut self, item: &Item) {
        self.docs("///", &item.doc);
        if item.of_world {
            self.line("of the world:");
        }
        match &item.kind {
            ItemKind::Agents(count) => self.line(&format!("agents {}", expr(count))),
            ItemKind::Steps(count) => self.line(&format!("steps {}", expr(count))),
            ItemKind::World(count) => self.line(&format!("world {}", expr(count))),
            ItemKind::Const { name, ty, value } => {
                self.line(&bound("const", name, ty, Some(value)))
            }
            ItemKind::State { name, ty, value } => {
                self.line(&bound("state", name, ty, Some(value)))
            }
            ItemKind::Output { name, ty, value } => {
                self.line(&bound("output", name, ty, value.as_ref()));
            }
            ItemKind::Record { .. } | ItemKind::Observe { .. } => self.series(&item.kind),
            ItemKind::Param {
                name,
                ty,
                value,
                range: limits,
            } => {
                let limits = limits
                    .as_ref()
                    .map(|limits| format!(" in {}", range(limits)));
                let head = bound("param", name, ty, value.as_ref());
                self.line(&(head + &limits.unwrap_or_default()));
            }
            ItemKind::Data { name, ty: kind } => {
                self.line(&format!("data {}: {}", name.text, ty(kind)));
            }
            ItemKind::Input { name, ty, source } => {
                let head = bound("input", name, ty, None);
                self.line(&match source {
                    InputSource::Required => head,
                    InputSource::Default(value) => format!("{head} = {}", expr(value)),
                    InputSource::Drawn(value) => format!("{head} ~ {}", expr(value)),
                });
            }
            ItemKind::Fn(function) => {
                let result = function.result.as_ref();
                let result = result.map(|result| format!(" -> {}", ty(result)));
                let head = format!("fn {}({})", function.name.text, fields(&function.params));
                self.block(&(head + &result.unwrap_or_default()), &function.body);
            }
            ItemKind::Struct { name, fields: list } => {
                self.line(&format!("struct {} {{ {} }}", name.text, fields(list)));
            }
            ItemKind::Enum { name, variants } => {
                let variants: Vec<&str> = variants.iter().map(|v| v.text.as_str()).collect();
                self.line(&format!("enum {} {{ {} }}", name.text, variants.join(", ")));
            }
            ItemKind::Init(body) => self.block("init", body),
            ItemKind::Step { index: None, body } => self.block("step", body),
            ItemKind::Step {
                index: Some(index),
                body,
            } => self.block(&format!("step {}", index.text), body),
            ItemKind::Finish(body) => self.block("finish", body),
            ItemKind::Test(test) => self.test(test),
            ItemKind::Error => self.line("<error>"),
        }
    }

    fn test(&mut self, test: &Test) {
        self.line(&format!("test {:?}", test.name.text));
        self.depth += 1;
        for part in &test.parts {
            let source = |word: &str, name: &Name, source: &TestSource| match source {
                TestSource::Value(value) => format!("{word} {} = {}", name.text, expr(value)),
                TestSource::File(path) => format!("{word} {} from {:?}", name.text, path.text),
            };
            let line = match &part.kind {
                TestPartKind::Agents(count) => format!("agents {}", expr(count)),
                TestPartKind::Steps(count) => format!("steps {}", expr(count)),
                TestPartKind::World(count) => format!("world {}", expr(count)),
                TestPartKind::Seed(seed) => format!("seed {}", expr(seed)),
                TestPartKind::Param { name, value } => {
                    format!("param {} = {}", name.text, expr(value))
                }
                TestPartKind::Data { name, source: from } => source("data", name, from),
                TestPartKind::Input { name, source: from } => source("input", name, from),
                TestPartKind::Expect { value, relation } => {
                    let value = expr(value);
                    match relation {
                        None => format!("expect {value}"),
                        Some(TestRelation::In(limits)) => {
                            format!("expect {value} in {}", range(limits))
                        }
                        Some(TestRelation::Near {
                            value: wanted,
                            tolerance,
                            unit,
                        }) => {
                            let unit = match unit {
                                ToleranceUnit::Absolute => "",
                                ToleranceUnit::Percent => " %",
                                ToleranceUnit::StandardErrors => " se",
                            };
                            let (wanted, tolerance) = (expr(wanted), expr(tolerance));
                            format!("expect {value} ~ {wanted} within {tolerance}{unit}")
                        }
                    }
                }
                TestPartKind::Error => "<error>".to_owned(),
            };
            self.line(&line);
        }
        self.depth -= 1;
    }

    fn series(&mut self, item: &ItemKind) {
        let (word, (name, ty, value, every)) = match item {
            ItemKind::Record {
                name,
                ty,
                value,
                every,
            } => ("record", (name, ty, value, every)),
            ItemKind::Observe {
                name,
                ty,
                value,
                every,
            } => ("observe", (name, ty, value, every)),
            _ => return,
        };
        let every = every.as_ref();
        let every = every.map(|every| format!(" every {}", expr(every)));
        let head = bound(word, name, ty, value.as_ref());
        self.line(&(head + &every.unwrap_or_default()));
    }

    fn block(&mut self, head: &str, block: &Block) {
        self.line(head);
        self.depth += 1;
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
        self.depth -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let { name, ty, value } => self.line(&bound("let", name, ty, Some(value))),
            StmtKind::Var { name, ty, value } => self.line(&bound("var", name, ty, Some(value))),
            StmtKind::Assign { place, op, value } => {
                let op = op.map_or("", |op| op.text());
                self.line(&format!("{} {op}= {}", expr(place), expr(value)));
            }
            StmtKind::If {
                branches,
                otherwise,
            } => {
                for (index, (condition, body)) in branches.iter().enumerate() {
                    let word = if index == 0 { "if" } else { "else if" };
                    self.block(&format!("{word} {}", expr(condition)), body);
                }
                if let Some(body) = otherwise {
                    self.block("else", body);
                }
            }
            StmtKind::For {
                index,
                domain: over,
                body,
            } => self.block(&format!("for {} in {}", index.text, domain(over)), body),
            StmtKind::While {
                condition,
                limit,
                body,
            } => {
                let limit = limit
                    .as_ref()
                    .map(|limit| format!(" limit {}", expr(limit)));
                let head = format!("while {}{}", expr(condition), limit.unwrap_or_default());
                self.block(&head, body);
            }
            StmtKind::Match { value, arms } => {
                self.line(&format!("match {}", expr(value)));
                self.depth += 1;
                for arm in arms {
                    let patterns: Vec<String> = arm.patterns.iter().map(pattern).collect();
                    self.block(&format!("{} =>", patterns.join(" | ")), &arm.body);
                }
                self.depth -= 1;
            }
            StmtKind::Return(None) => self.line("return"),
            StmtKind::Return(Some(value)) => self.line(&format!("return {}", expr(value))),
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Stop => self.line("stop"),
            StmtKind::Integrate { method, dt, body } => {
                self.block(&format!("integrate {}({})", method.text, expr(dt)), body);
            }
            StmtKind::Equation { state, value } => {
                self.line(&format!("{}' = {}", state.text, expr(value)));
            }
            StmtKind::Assert { condition, message } => {
                self.line(&format!("assert {}, {message:?}", expr(condition)));
            }
            StmtKind::Block(body) => self.block("block", body),
            StmtKind::Expr(value) => self.line(&expr(value)),
            StmtKind::Error => self.line("<error>"),
        }
    }
}

fn bound(word: &str, name: &Name, kind: &Option<Type>, value: Option<&Expr>) -> String {
    let kind = kind.as_ref().map(|kind| format!(": {}", ty(kind)));
    let value = value.map(|value| format!(" = {}", expr(value)));
    let name = &name.text;
    format!(
        "{word} {name}{}{}",
        kind.unwrap_or_default(),
        value.unwrap_or_default()
    )
}

fn fields(fields: &[Field]) -> String {
    let fields = fields.iter();
    let fields = fields.map(|field| format!("{}: {}", field.name.text, ty(&field.ty)));
    fields.collect::<Vec<_>>().join(", ")
}

fn ty(ty: &Type) -> String {
    match &ty.kind {
        TypeKind::Name(name) => name.clone(),
        TypeKind::Array(element, None) => format!("[{}]", self::ty(element)),
        TypeKind::Array(element, Some(length)) => {
            format!("[{}; {}]", self::ty(element), expr(length))
        }
        TypeKind::Error => "<error>".into(),
    }
}

fn pattern(pattern: &Pattern) -> String {
    match &pattern.kind {
        PatternKind::Rest => "_".into(),
        PatternKind::Value(value) => expr(value),
    }
}

fn range(range: &Range) -> String {
    format!("{}..{}", expr(&range.start), expr(&range.end))
}

fn domain(domain: &Domain) -> String {
    match domain {
        Domain::Range(limits) => range(limits),
        Domain::World(_) => "world".into(),
    }
}

fn comprehension(over: &Comprehension) -> String {
    let filter = over.filter.as_ref();
    let filter = filter.map(|filter| format!(" if {}", expr(filter)));
    let (index, domain) = (&over.index.text, domain(&over.domain));
    let value = expr(&over.value);
    format!(
        "for {index} in {domain}{}: {value}",
        filter.unwrap_or_default()
    )
}

fn list(exprs: &[Expr]) -> String {
    exprs.iter().map(expr).collect::<Vec<_>>().join(" ")
}

fn expr(value: &Expr) -> String {
    match &value.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Uint(value) => format!("{value}u"),
        ExprKind::Float(value) => format!("{value:?}"),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Paren(inner) => format!("(paren {})", expr(inner)),
        ExprKind::Unary(op, operand) => format!("({} {})", op.text(), expr(operand)),
        ExprKind::Binary(op, left, right) => {
            format!("({} {} {})", op.text(), expr(left), expr(right))
        }
        ExprKind::Call { callee, args } if args.is_empty() => format!("(call {})", callee.text),
        ExprKind::Call { callee, args } => format!("(call {} {})", callee.text, list(args)),
        ExprKind::Bitcast { to, value } => format!("(bitcast {} {})", ty(to), expr(value)),
        ExprKind::Index(base, index) => format!("(index {} {})", expr(base), expr(index)),
        ExprKind::Field(base, name) => format!("(field {} {})", expr(base), name.text),
        ExprKind::Array(elements) => format!("[{}]", list(elements)),
        ExprKind::Repeat(value, length) => format!("[{}; {}]", expr(value), expr(length)),
        ExprKind::Comprehension(over) => format!("[{}]", comprehension(over)),
        ExprKind::Fold { callee, over } => {
            format!("(fold {} {})", callee.text, comprehension(over))
        }
        ExprKind::If {
            branches,
            otherwise,
        } => {
            let branches = branches.iter();
            let branches = branches.map(|(c, value)| format!("{} {}", expr(c), expr(value)));
            let branches = branches.collect::<Vec<_>>().join(" ");
            format!("(if {branches} {})", expr(otherwise))
        }
        ExprKind::Error => "<error>".into(),
    }
}
