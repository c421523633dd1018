//! Tests of a model.

use super::{Printer, Space};
use crate::align::Kind;
use sim_compiler::syntax::{
    Token,
    ast::{Expr, Test, TestPart, TestPartKind, TestRelation, TestSource, ToleranceUnit},
};

impl Printer<'_> {
    /// `test "name" { … }`, with a line for each part.
    pub(super) fn test(&mut self, test: &Test) {
        self.word();
        self.one();
        self.token(Token::Text);
        self.one_flush();
        self.bracket(Space::Hard, |p| {
            for part in &test.parts {
                p.line_or_first();
                p.test_part(part);
            }
        });
    }

    fn test_part(&mut self, part: &TestPart) {
        match &part.kind {
            TestPartKind::Agents(value)
            | TestPartKind::Steps(value)
            | TestPartKind::World(value)
            | TestPartKind::Seed(value) => {
                self.word();
                self.cell(Kind::Count);
                self.one();
                self.value(value);
                self.end_of_cells();
            }
            TestPartKind::Param { value, .. } => self.test_value(Kind::Param, value),
            TestPartKind::Data { source, .. } => self.test_source(Kind::Data, source),
            TestPartKind::Input { source, .. } => self.test_source(Kind::Input, source),
            TestPartKind::Expect { value, relation } => self.expect(value, relation.as_ref()),
            TestPartKind::Error => self.lose("a part of a test"),
        }
    }

    /// `param x = e`
    fn test_value(&mut self, kind: Kind, value: &Expr) {
        self.head(None);
        self.source(kind, Token::Assign, value);
        self.end_of_cells();
    }

    /// `data x = e`, `data x from "path"`
    fn test_source(&mut self, kind: Kind, source: &TestSource) {
        match source {
            TestSource::Value(value) => self.test_value(kind, value),
            TestSource::File(_) => {
                self.head(None);
                self.cell(kind);
                self.one();
                self.word();
                self.one();
                self.token(Token::Text);
                self.end_of_cells();
            }
        }
    }

    /// `expect e`, `expect e ~ e within e`, `expect e in a..b`
    fn expect(&mut self, value: &Expr, relation: Option<&TestRelation>) {
        self.word();
        self.one();
        let Some(relation) = relation else {
            return self.value(value);
        };
        self.group(|p| {
            p.value(value);
            p.nest(|p| {
                p.space(Space::Line);
                p.word();
                p.one();
                match relation {
                    TestRelation::In(range) => p.range(range),
                    TestRelation::Near {
                        value,
                        tolerance,
                        unit,
                    } => {
                        p.value(value);
                        p.space(Space::Line);
                        p.word();
                        p.one();
                        p.value(tolerance);
                        match unit {
                            ToleranceUnit::Absolute => {}
                            ToleranceUnit::Percent | ToleranceUnit::StandardErrors => {
                                p.one();
                                p.word();
                            }
                        }
                    }
                }
            });
        });
    }
}
