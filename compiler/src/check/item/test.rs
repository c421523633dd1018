//! The tests of a model: what each launches. `expect` is below.

mod expect;
mod fold;
mod result;

use crate::{
    check::{Binding, Checker, Global, Place},
    diagnostic::catalog::{self, test as say},
    hir::{Constant, ExprId, GivenValue, InputSource, Test, Type},
    ir::{Type as Scalar, Value},
    manifest::{MOST_AGENTS, MOST_STEPS},
    span::Span,
    syntax::ast,
    testing::{self, File, Role},
};
use std::{collections::HashMap, rc::Rc};

/// Most numbers that the tests of a model write out for params, tables and inputs.
const MOST_GIVEN: u64 = 1 << 24;

/// What a launch must give.
struct Needed {
    word: &'static str,
    name: String,
    declared: Span,
}

/// A test as it is being checked.
struct Draft<'a> {
    tree: &'a ast::Test,
    test: testing::Test,
    given: Vec<GivenValue>,
    /// What was given, and where.
    seen: HashMap<(&'static str, &'a str), Span>,
}

impl<'a> Checker<'a> {
    pub(in crate::check) fn check_tests(&mut self) {
        let tests = self.items().filter_map(|item| match &item.kind {
            ast::ItemKind::Test(test) => Some(test),
            _ => None,
        });
        let tests: Vec<&ast::Test> = tests.collect();
        if tests.is_empty() {
            return;
        }
        let needed = self.needed_by_launches();
        let mut names: HashMap<&str, Span> = HashMap::new();
        self.at_place(Place::Constant, |checker| {
            checker.bind_defaults();
            for test in tests {
                let name = &test.name;
                if let Some(first) = names.insert(&name.text, name.span) {
                    let report =
                        catalog::names::duplicate_declaration(&name.text, name.span, first);
                    checker.report(report);
                }
                checker.scoped(|checker| checker.check_test(test, &needed));
            }
        });
    }

    fn check_test(&mut self, tree: &'a ast::Test, needed: &[Needed]) {
        let mut draft = Draft {
            tree,
            test: testing::Test {
                name: tree.name.text.clone(),
                span: tree.name.span,
                agents: None,
                steps: None,
                world: None,
                seed: 0,
                given: Vec::new(),
                files: Vec::new(),
                expectations: Vec::new(),
            },
            given: Vec::new(),
            seen: HashMap::new(),
        };
        // Tables and inputs may use params, with their values here.
        let of_params = |part: &&ast::TestPart| {
            use ast::TestPartKind::{Data, Input};
            !matches!(part.kind, Data { .. } | Input { .. })
        };
        let (first, later): (Vec<_>, Vec<_>) = tree.parts.iter().partition(of_params);
        for part in first {
            self.launch_part(&mut draft, part);
        }
        self.bind_launch(&draft);
        for part in later {
            self.launch_part(&mut draft, part);
        }
        let unread = |part: &ast::TestPart| matches!(part.kind, ast::TestPartKind::Error);
        let whole = !tree.parts.iter().any(unread);
        if whole {
            self.lacking(&draft, needed);
        }
        let mut expects = false;
        for part in &tree.parts {
            if let ast::TestPartKind::Expect { value, relation } = &part.kind {
                expects = true;
                let found = self.expectation(&draft.test, value, relation.as_ref());
                draft.test.expectations.extend(found);
            }
        }
        if !expects && whole {
            self.report(say::not_an_expectation(
                "the test expects nothing",
                "it cannot fail",
                "say what must be true of the run: `expect mean(x) > 0.0`",
                tree.name.span,
            ));
        }
        self.model.tests.push(Test {
            test: draft.test,
            given: draft.given,
        });
    }

    /// `agents`, `seed`, `param` and the like.
    fn launch_part(&mut self, draft: &mut Draft<'a>, part: &'a ast::TestPart) {
        let (word, name, place) = match &part.kind {
            ast::TestPartKind::Agents(value) => ("agents", "", value.span),
            ast::TestPartKind::Steps(value) => ("steps", "", value.span),
            ast::TestPartKind::World(value) => ("world", "", value.span),
            ast::TestPartKind::Seed(value) => ("seed", "", value.span),
            ast::TestPartKind::Param { name, .. } => ("param", name.text.as_str(), name.span),
            ast::TestPartKind::Data { name, .. } => ("data", name.text.as_str(), name.span),
            ast::TestPartKind::Input { name, .. } => ("input", name.text.as_str(), name.span),
            ast::TestPartKind::Expect { .. } | ast::TestPartKind::Error => return,
        };
        if let Some(first) = draft.seen.insert((word, name), place) {
            let said = if name.is_empty() { word } else { name };
            self.report(catalog::model::declared_twice(said, place, first));
        }
        match &part.kind {
            ast::TestPartKind::Agents(value) => {
                draft.test.agents = self.test_count(word, value, 1..=MOST_AGENTS);
            }
            ast::TestPartKind::World(value) => {
                draft.test.world = self.test_count(word, value, 1..=MOST_AGENTS);
            }
            ast::TestPartKind::Steps(value) => {
                draft.test.steps = self.test_count(word, value, 0..=MOST_STEPS);
            }
            ast::TestPartKind::Seed(value) => {
                if let Ok(seed) = self.constant_int(value, "`seed`") {
                    match u64::try_from(seed) {
                        Ok(seed) => draft.test.seed = seed,
                        Err(_) => {
                            let message = format!("`seed` cannot be {seed}");
                            let help = "write a number from 0";
                            let report =
                                say::bad_number_in_test(&message, "below 0", help, value.span);
                            self.report(report);
                        }
                    }
                }
            }
            ast::TestPartKind::Param { name, value } => self.given_param(draft, name, value),
            ast::TestPartKind::Data { name, source } => self.given_data(draft, name, source),
            ast::TestPartKind::Input { name, source } => self.given_input(draft, name, source),
            ast::TestPartKind::Expect { .. } | ast::TestPartKind::Error => {}
        }
    }

    fn test_count(
        &mut self,
        word: &str,
        value: &ast::Expr,
        legal: std::ops::RangeInclusive<u32>,
    ) -> Option<u32> {
        let count = self.constant_int(value, &format!("`{word}`")).ok()?;
        let fits = u32::try_from(count)
            .ok()
            .filter(|count| legal.contains(count));
        if fits.is_none() {
            let report = catalog::model::bad_count(word, &count.to_string(), legal, value.span);
            self.report(report);
        }
        fits
    }

    fn given_param(&mut self, draft: &mut Draft<'a>, name: &'a ast::Name, value: &'a ast::Expr) {
        let Some((Global::Param(id), _)) = self.globals.get(name.text.as_str()).copied() else {
            return self.unknown_given(Role::Param, name);
        };
        let param = &self.model[id];
        let (ty, declared, range) = (param.ty.clone(), param.span, param.range);
        self.note(name.span, declared);
        let cause = Some((declared, "because of its type here".to_owned()));
        let id = self.value_of(value, &ty, &format!("`{}`", name.text), cause);
        let Some(constant) = self.known_in_test(id, "the value of a param in a test") else {
            return;
        };
        if let Some([start, end]) = range {
            let mut numbers = Vec::new();
            super::launch::flatten_numbers(&constant, &mut numbers);
            let wrong = numbers.into_iter().find(|x| !(start..=end).contains(x));
            if let Some(wrong) = wrong {
                let message = format!("`{}` cannot be {wrong}", name.text);
                let help = format!("its range is {start} to {end}");
                let label = "outside the range of the param";
                self.report(say::bad_number_in_test(&message, label, &help, value.span));
            }
        }
        self.keep_value(draft, Role::Param, name, ty, constant, value.span);
    }

    fn given_data(
        &mut self,
        draft: &mut Draft<'a>,
        name: &'a ast::Name,
        source: &'a ast::TestSource,
    ) {
        let Some((Global::Data(id), _)) = self.globals.get(name.text.as_str()).copied() else {
            return self.unknown_given(Role::Data, name);
        };
        let table = &self.model[id];
        let (ty, declared) = (table.ty.clone(), table.span);
        self.note(name.span, declared);
        let value = match source {
            ast::TestSource::Value(value) => value,
            ast::TestSource::File(path) => return self.given_file(draft, Role::Data, name, path),
        };
        // An open table has as many rows as are written.
        let Type::Open(row) = &ty else {
            let cause = Some((declared, "because of its type here".to_owned()));
            let id = self.value_of(value, &ty, &format!("`{}`", name.text), cause);
            return self.keep_given(draft, Role::Data, name, ty, id);
        };
        let id = self.expr(value, None);
        let ty = match self.ty(id) {
            Type::Array(_, length) => Type::Array(Rc::clone(row), *length),
            found if found.has_error() => return,
            found => {
                let (want, found) = (self.show(&ty), self.show(found));
                let what = format!("`{}`", name.text);
                self.report(catalog::types::mismatched_types(
                    &what, &want, &found, value.span, None, None,
                ));
                return;
            }
        };
        let id = self.coerce(id, &ty, &format!("`{}`", name.text), None);
        self.keep_given(draft, Role::Data, name, ty, id);
    }

    fn given_input(
        &mut self,
        draft: &mut Draft<'a>,
        name: &'a ast::Name,
        source: &'a ast::TestSource,
    ) {
        let Some((Global::Input(id), _)) = self.globals.get(name.text.as_str()).copied() else {
            return self.unknown_given(Role::Input, name);
        };
        let input = &self.model[id];
        let (ty, declared) = (input.ty.clone(), input.span);
        self.note(name.span, declared);
        match source {
            ast::TestSource::Value(value) => {
                let cause = Some((declared, "because of its type here".to_owned()));
                let id = self.value_of(value, &ty, &format!("`{}`", name.text), cause);
                self.keep_given(draft, Role::Input, name, ty, id);
            }
            ast::TestSource::File(path) => self.given_file(draft, Role::Input, name, path),
        }
    }

    fn given_file(
        &mut self,
        draft: &mut Draft<'a>,
        role: Role,
        name: &ast::Name,
        path: &ast::Name,
    ) {
        if path.text.is_empty() {
            self.report(say::file_without_path(path.span));
        }
        draft.test.files.push(File {
            role,
            name: name.text.clone(),
            path: path.text.clone(),
            span: path.span,
        });
    }

    fn keep_given(
        &mut self,
        draft: &mut Draft<'a>,
        role: Role,
        name: &ast::Name,
        ty: Type,
        id: ExprId,
    ) {
        let what = match role {
            Role::Param => "the value of a param in a test",
            Role::Data => "a table in a test",
            Role::Input => "the value of an input in a test",
        };
        if let Some(value) = self.known_in_test(id, what) {
            let span = self.expr_span(id);
            self.keep_value(draft, role, name, ty, value, span);
        }
    }

    fn keep_value(
        &mut self,
        draft: &mut Draft<'a>,
        role: Role,
        name: &ast::Name,
        ty: Type,
        value: Constant,
        span: Span,
    ) {
        let before = self.given_in_tests;
        self.given_in_tests = before.saturating_add(self.numbers(&ty));
        if self.given_in_tests > MOST_GIVEN {
            if before <= MOST_GIVEN {
                let message = "the tests of the model give more than 16,777,216 numbers";
                let help = "read large tables and inputs from files: `data x from \"x.csv\"`";
                self.report(say::bad_number_in_test(message, "here", help, span));
            }
            return;
        }
        draft.given.push(GivenValue {
            role,
            name: name.text.clone(),
            ty,
            value,
        });
    }

    /// The value of an expression, which must be known when the model is compiled.
    fn known_in_test(&mut self, id: ExprId, what: &str) -> Option<Constant> {
        let known = self.constant(id).cloned();
        if known.is_none() && self.sound(id).is_ok() {
            let span = self.expr_span(id);
            self.report(catalog::constants::not_constant(what, span));
        }
        known
    }

    fn unknown_given(&mut self, role: Role, name: &ast::Name) {
        let model = &self.model;
        let roles = [
            (
                Role::Param,
                "param",
                model.params.iter().map(|it| it.name.as_str()).collect(),
            ),
            (
                Role::Data,
                "data",
                model.data.iter().map(|it| it.name.as_str()).collect(),
            ),
            (
                Role::Input,
                "input",
                model.inputs.iter().map(|it| it.name.as_str()).collect(),
            ),
        ];
        let of = |wanted: Role| roles.iter().find(|(role, ..)| *role == wanted);
        let (_, word, names): &(_, _, Vec<&str>) = of(role).expect("all roles are there");
        let text = name.text.as_str();
        let other = roles.iter().find(|(_, _, names)| names.contains(&text));
        let help = other.map(|(_, word, _)| format!("write `{word} {text} = …`"));
        let near = self.suggestions.nearest(text, names.iter().copied());
        let what = match other {
            Some((_, word, _)) => format!("declared by `{word}`"),
            None => "unknown".to_owned(),
        };
        let wanted = match role {
            Role::Param | Role::Input => word,
            Role::Data => "table",
        };
        let report = say::unknown_in_test(wanted, text, &what, help.as_deref(), name.span, near);
        self.report(report);
    }

    /// What a launch must give.
    fn needed_by_launches(&self) -> Vec<Needed> {
        let model = &self.model;
        let params = model.params.iter().filter(|param| param.default.is_none());
        let inputs = model.inputs.iter();
        let inputs = inputs.filter(|input| matches!(input.source, InputSource::Required));
        let all = (params.map(|it| ("param", &it.name, &it.ty, it.span)))
            .chain(
                model
                    .data
                    .iter()
                    .map(|it| ("data", &it.name, &it.ty, it.span)),
            )
            .chain(inputs.map(|it| ("input", &it.name, &it.ty, it.span)));
        let sound = all.filter(|(_, _, ty, _)| !ty.has_error());
        let needed = sound.map(|(word, name, _, declared)| Needed {
            word,
            name: name.clone(),
            declared,
        });
        needed.collect()
    }

    /// Complains of what a launch of the test would lack.
    fn lacking(&mut self, draft: &Draft<'_>, needed: &[Needed]) {
        for Needed {
            word,
            name,
            declared,
        } in needed
        {
            if draft.seen.contains_key(&(*word, name.as_str())) {
                continue;
            }
            let role = if *word == "data" { "table" } else { word };
            let help = match *word {
                "param" => format!("write `param {name} = …` in the test"),
                _ => {
                    format!("write `{word} {name} = …` or `{word} {name} from \"file.csv\"` in it")
                }
            };
            let place = draft.tree.name.span;
            self.report(say::incomplete_test(role, name, &help, place, *declared));
        }
    }

    /// In tests, params have their defaults as values.
    fn bind_defaults(&mut self) {
        let params = self.model.params.iter();
        let known = params.filter_map(|param| {
            let value = param.default.clone()?;
            let binding = Binding::Constant(value, param.ty.clone());
            Some((param.name.clone(), (binding, param.span)))
        });
        let known: Vec<_> = known.collect();
        let scope = self.scopes.last_mut().expect("the place has a scope");
        scope.extend(known);
    }

    /// In one test, params and the numbers of the launch have the values that it gives.
    fn bind_launch(&mut self, draft: &Draft<'_>) {
        let mut bound: Vec<(String, (Binding, Span))> = Vec::new();
        for given in &draft.given {
            if let Some((Global::Param(id), _)) = self.globals.get(given.name.as_str()).copied() {
                let binding = Binding::Constant(given.value.clone(), given.ty.clone());
                bound.push((given.name.clone(), (binding, self.model[id].span)));
            }
        }
        let counts = [
            ("agents", draft.test.agents.or(self.model.agents)),
            ("steps", draft.test.steps.or(self.model.steps)),
        ];
        for (name, count) in counts {
            let count = count.and_then(|count| i32::try_from(count).ok());
            if let Some(count) = count {
                let value = Constant::Value(Value::I32(count));
                let binding = Binding::Constant(value, Type::Value(Scalar::I32));
                bound.push((name.to_owned(), (binding, Span::default())));
            }
        }
        let scope = self.scopes.last_mut().expect("the test has opened a scope");
        scope.extend(bound);
    }
}
