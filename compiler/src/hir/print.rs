//! The checked model as text: Sim-like, with the type of every declaration and literal, for
//! `simc build --emit hir`.

use super::{
    AgentField, Arm, Block, Comprehension, Constant, Domain, Expr, ExprId, ExprKind, InputSource,
    LocalId, Method, Model, Stmt, StmtKind, Type,
};
use crate::ir::{Launch, Value};
use std::fmt::{Debug, Write};

/// The whole model.
pub fn print(model: &Model) -> String {
    let mut printer = Printer {
        model,
        text: String::new(),
        indent: 0,
    };
    printer.model();
    printer.text
}

struct Printer<'a> {
    model: &'a Model,
    text: String,
    indent: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        let indent = self.indent * 4;
        let _ = writeln!(self.text, "{:indent$}{text}", "");
    }

    fn ty(&self, ty: &Type) -> String {
        ty.show(self.model)
    }

    fn model(&mut self) {
        let model = self.model;
        for (word, count) in [("agents", model.agents), ("steps", model.steps)] {
            if let Some(count) = count {
                self.line(&format!("{word} {count}"));
            }
        }
        self.types();
        self.launch_values();
        for item in &model.states {
            self.line(&format!(
                "state {}: {} = {}",
                item.name,
                self.ty(&item.ty),
                self.expr(item.init)
            ));
        }
        self.functions();
        self.blocks();
        for item in &model.outputs {
            self.line(&format!(
                "output {}: {} = {}",
                item.name,
                self.ty(&item.ty),
                self.expr(item.value)
            ));
        }
        for item in &model.series {
            let fold = item.fold.as_ref().map(|fold| format!("{fold:?} of "));
            self.line(&format!(
                "sample {}: {} of {:?} every {} = {}{}",
                item.name,
                self.ty(&item.ty),
                item.of,
                item.every,
                fold.unwrap_or_default(),
                self.expr(item.value)
            ));
        }
    }

    fn types(&mut self) {
        let model = self.model;
        for item in &model.structs {
            let fields: Vec<String> = item
                .fields
                .iter()
                .map(|(name, ty)| format!("{name}: {}", self.ty(ty)))
                .collect();
            self.line(&format!("struct {} {{ {} }}", item.name, fields.join(", ")));
        }
        for item in &model.enums {
            self.line(&format!(
                "enum {} {{ {} }}",
                item.name,
                item.variants.join(", ")
            ));
        }
    }

    fn launch_values(&mut self) {
        let model = self.model;
        for item in &model.params {
            let default = item
                .default
                .as_ref()
                .map_or(String::new(), |value| format!(" = {}", constant(value)));
            let range = item
                .range
                .map_or(String::new(), |[a, b]| format!(" in {a}..{b}"));
            self.line(&format!(
                "param {}: {}{default}{range}",
                item.name,
                self.ty(&item.ty)
            ));
        }
        for item in &model.data {
            self.line(&format!("data {}: {}", item.name, self.ty(&item.ty)));
        }
        for item in &model.inputs {
            let source = match item.source {
                InputSource::Required => String::new(),
                InputSource::Default(value) => format!(" = {}", self.expr(value)),
                InputSource::Drawn(value) => format!(" ~ {}", self.expr(value)),
            };
            self.line(&format!(
                "input {}: {}{source}",
                item.name,
                self.ty(&item.ty)
            ));
        }
    }

    fn functions(&mut self) {
        for item in &self.model.functions {
            let params: Vec<String> = item.params.iter().map(|&param| self.typed(param)).collect();
            let draws = if item.draws { " // draws" } else { "" };
            self.line(&format!(
                "fn {}({}) -> {} {{{draws}",
                item.name,
                params.join(", "),
                self.ty(&item.result)
            ));
            self.body(&item.body);
            self.line("}");
        }
    }

    fn blocks(&mut self) {
        let model = self.model;
        model.init.iter().for_each(|body| self.headed("init", body));
        for block in &model.step {
            let head = block.index.map_or("step".to_string(), |index| {
                format!("step {}", self.name(index))
            });
            self.headed(&head, &block.body);
        }
        model
            .finish
            .iter()
            .for_each(|body| self.headed("finish", body));
    }

    fn headed(&mut self, head: &str, body: &Block) {
        self.line(&format!("{head} {{"));
        self.body(body);
        self.line("}");
    }

    fn body(&mut self, body: &Block) {
        self.indent += 1;
        body.iter().for_each(|stmt| self.stmt(stmt));
        self.indent -= 1;
    }

    fn name(&self, local: LocalId) -> String {
        format!("{}.{}", self.model[local].name, local.0)
    }

    fn typed(&self, local: LocalId) -> String {
        format!("{}: {}", self.name(local), self.ty(&self.model[local].ty))
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Declare { local, value } => {
                let word = if self.model[*local].kind == super::LocalKind::Let {
                    "let"
                } else {
                    "var"
                };
                self.line(&format!(
                    "{word} {} = {}",
                    self.typed(*local),
                    self.expr(*value)
                ));
            }
            StmtKind::Assign { place, op, value } => {
                let op = op.map_or("", super::BinaryOp::text);
                self.line(&format!(
                    "{} {op}= {}",
                    self.expr(*place),
                    self.expr(*value)
                ));
            }
            StmtKind::If {
                branches,
                otherwise,
            } => self.if_stmt(branches, otherwise.as_ref()),
            StmtKind::For {
                index,
                domain,
                body,
            } => {
                let head = format!("for {} in {}", self.name(*index), self.domain(*domain));
                self.headed(&head, body);
            }
            StmtKind::While {
                condition,
                limit,
                body,
            } => {
                let head = format!(
                    "while {} limit {}",
                    self.expr(*condition),
                    self.expr(*limit)
                );
                self.headed(&head, body);
            }
            StmtKind::Match { value, arms } => self.match_stmt(*value, arms),
            StmtKind::Return(value) => self.line(&format!("return {}", self.expr(*value))),
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Stop => self.line("stop"),
            StmtKind::Assert { condition, message } => {
                self.line(&format!("assert {}, {message:?}", self.expr(*condition)));
            }
            StmtKind::Integrate { method, dt, body } => {
                let head = format!("integrate {}({})", method_name(*method), self.expr(*dt));
                self.headed(&head, body);
            }
            StmtKind::Equation { state, value } => {
                let name = &self.model[*state].name;
                self.line(&format!("{name}' = {}", self.expr(*value)));
            }
            StmtKind::Block(body) => self.headed("", body),
        }
    }

    fn if_stmt(&mut self, branches: &[(ExprId, Block)], otherwise: Option<&Block>) {
        for (k, (condition, body)) in branches.iter().enumerate() {
            let word = if k == 0 { "if" } else { "} else if" };
            self.line(&format!("{word} {} {{", self.expr(*condition)));
            self.body(body);
        }
        if let Some(body) = otherwise {
            self.line("} else {");
            self.body(body);
        }
        self.line("}");
    }

    fn match_stmt(&mut self, value: ExprId, arms: &[Arm]) {
        self.line(&format!("match {} {{", self.expr(value)));
        self.indent += 1;
        for arm in arms {
            let patterns: Vec<String> = arm.patterns.iter().map(constant).collect();
            let head = if patterns.is_empty() {
                "_".to_string()
            } else {
                patterns.join(" | ")
            };
            self.headed(&format!("{head} =>"), &arm.body);
        }
        self.indent -= 1;
        self.line("}");
    }

    fn exprs(&self, ids: &[ExprId]) -> String {
        ids.iter()
            .map(|&id| self.expr(id))
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn comprehension(&self, over: &Comprehension) -> String {
        let filter = over
            .filter
            .map_or(String::new(), |filter| format!(" if {}", self.expr(filter)));
        format!(
            "for {} in {}{filter}: {}",
            self.name(over.index),
            self.domain(over.domain),
            self.expr(over.value)
        )
    }

    fn domain(&self, domain: Domain) -> String {
        match domain {
            Domain::Range(start, end) => format!("{}..{}", self.expr(start), self.expr(end)),
            Domain::World => "world".to_string(),
        }
    }

    fn expr(&self, id: ExprId) -> String {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.expr_inner(&self.model[id]))
    }

    fn expr_inner(&self, expr: &Expr) -> String {
        let model = self.model;
        match &expr.kind {
            ExprKind::Constant(value) => constant(value),
            ExprKind::Local(local) => self.name(*local),
            ExprKind::Param(param) => model[*param].name.clone(),
            ExprKind::Data(data) => model[*data].name.clone(),
            ExprKind::Input(input) => model[*input].name.clone(),
            ExprKind::State(state) => model[*state].name.clone(),
            ExprKind::Launch(launch) => launch_name(*launch).to_string(),
            ExprKind::Rows(data) => format!("len({})", model[*data].name),
            ExprKind::WorldAt(member) => format!("world[{}]", self.expr(*member)),
            ExprKind::Of(agent, field) => {
                let name = match field {
                    AgentField::State(state) => &model[*state].name,
                    AgentField::Input(input) => &model[*input].name,
                    AgentField::Member => "member",
                    AgentField::Agent => "agent",
                };
                format!("{}.{name}", self.expr(*agent))
            }
            ExprKind::Unary(op, operand) => format!("{}{}", op.text(), self.expr(*operand)),
            ExprKind::Binary(op, a, b) => {
                format!("({} {} {})", self.expr(*a), op.text(), self.expr(*b))
            }
            ExprKind::Convert(value) => format!("{}({})", self.ty(&expr.ty), self.expr(*value)),
            ExprKind::Bitcast(value) => {
                format!("bitcast<{}>({})", self.ty(&expr.ty), self.expr(*value))
            }
            ExprKind::Builtin(id, args) => format!("{}({})", id.row().name, self.exprs(args)),
            ExprKind::RandomWord(number) => format!("random_word({})", self.expr(*number)),
            ExprKind::TakeWords(count) => format!("take_words({count})"),
            ExprKind::Draw(draw, args) => format!("{}({})", lower_case(draw), self.exprs(args)),
            ExprKind::FoldArray(fold, array) => {
                format!("{}({})", lower_case(fold), self.expr(*array))
            }
            ExprKind::Fold(fold, over) => {
                format!("{}({})", lower_case(fold), self.comprehension(over))
            }
            ExprKind::Call(function, args) => {
                format!("{}({})", model[*function].name, self.exprs(args))
            }
            ExprKind::Compose(parts) => format!("{}({})", self.ty(&expr.ty), self.exprs(parts)),
            ExprKind::Splat(value) => format!("{}({})", self.ty(&expr.ty), self.expr(*value)),
            ExprKind::Index(base, index) => format!("{}[{}]", self.expr(*base), self.expr(*index)),
            ExprKind::Field(base, field) => format!("{}.{field}", self.expr(*base)),
            ExprKind::Swizzle(base, components) => {
                let letters: String = components
                    .iter()
                    .map(|&k| ['x', 'y', 'z', 'w'][k as usize])
                    .collect();
                format!("{}.{letters}", self.expr(*base))
            }
            ExprKind::Array(elements) => format!("[{}]", self.exprs(elements)),
            ExprKind::Repeat(value) => format!("[{}; …]: {}", self.expr(*value), self.ty(&expr.ty)),
            ExprKind::Comprehension(over) => format!("[{}]", self.comprehension(over)),
            ExprKind::If {
                branches,
                otherwise,
            } => self.if_value(branches, *otherwise),
            ExprKind::Error(_) => "?".to_string(),
        }
    }

    fn if_value(&self, branches: &[(ExprId, ExprId)], otherwise: ExprId) -> String {
        let branches: Vec<String> = branches
            .iter()
            .map(|(condition, value)| {
                format!(
                    "if {} {{ {} }} else ",
                    self.expr(*condition),
                    self.expr(*value)
                )
            })
            .collect();
        format!("{}{{ {} }}", branches.concat(), self.expr(otherwise))
    }
}

fn method_name(method: Method) -> &'static str {
    Method::ALL
        .iter()
        .find(|(_, known)| *known == method)
        .map_or("?", |(name, _)| name)
}

fn launch_name(launch: Launch) -> &'static str {
    match launch {
        Launch::Agent => "agent",
        Launch::Agents => "agents",
        Launch::Steps => "steps",
        Launch::Step => "t",
        Launch::Member => "member",
        Launch::Members => "len(world)",
        Launch::World => "world.number",
        Launch::Lane { .. } => "lane",
    }
}

/// A draw or a fold as the language writes it.
fn lower_case(variant: &impl Debug) -> String {
    format!("{variant:?}").to_lowercase()
}

/// A constant as a model would write it, shortened if it is long.
pub(crate) fn plain(value: &Constant, ty: &Type, model: &Model) -> String {
    match (value, ty) {
        (Constant::Value(Value::U32(value)), Type::Enum(id)) => {
            let variant = model[*id].variants.get(*value as usize);
            variant.cloned().unwrap_or_default()
        }
        (Constant::Value(Value::F32(value)), _) => number(*value),
        (Constant::Value(Value::I32(value)), _) => value.to_string(),
        (Constant::Many(values), Type::Array(element, _)) => {
            let shown = values.iter().take(16);
            let shown: Vec<String> = shown.map(|value| plain(value, element, model)).collect();
            let more = if values.len() > 16 { ", …" } else { "" };
            format!("[{}{more}]", shown.join(", "))
        }
        (Constant::Many(values), Type::Struct(id)) => {
            let fields = values.iter().zip(&model[*id].fields);
            let shown: Vec<String> = fields
                .map(|(value, (_, ty))| plain(value, ty, model))
                .collect();
            format!("{}({})", model[*id].name, shown.join(", "))
        }
        _ => constant(value),
    }
}

/// The shortest digits that bring a number back, which in `f32` is one.
fn number(value: f64) -> String {
    match Value::F32(value).exact_single() {
        Some(Value::F32(single)) => format!("{single:?}"),
        _ => format!("{value:?}"),
    }
}

fn constant(value: &Constant) -> String {
    match value {
        Constant::Int(value) => value.to_string(),
        Constant::Float(value) => format!("{value:?}"),
        Constant::Value(Value::F32(value)) => format!("{}f", number(*value)),
        Constant::Value(Value::I32(value)) => format!("{value}i"),
        Constant::Value(Value::U32(value)) => format!("{value}u"),
        Constant::Value(Value::Bool(value)) => value.to_string(),
        Constant::Value(vector) => {
            let parts: Vec<String> = vector.floats().iter().map(|x| number(*x)).collect();
            format!("vec[{}]", parts.join(", "))
        }
        Constant::Many(values) => {
            let shown: Vec<String> = values.iter().take(16).map(constant).collect();
            let more = if values.len() > 16 { ", …" } else { "" };
            format!("[{}{more}]", shown.join(", "))
        }
    }
}
