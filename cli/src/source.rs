//! Reads models.

use crate::{
    failure::Failure,
    open::{named, open},
    problem::{self, not_utf8, source_too_large},
};
use sim_compiler::diagnostic::{Diagnostic, Label, Severity};
use std::{io::Read, path::Path};

/// Most bytes of a model.
const MOST: u64 = 256 << 20;

/// A model's text and what the user calls it.
#[derive(Debug)]
pub(crate) struct Source {
    /// The path as it was given, or `<stdin>`.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
}

impl Source {
    /// Reads a model; `-` is standard input.
    pub(crate) fn read(path: &Path) -> Result<Source, Failure> {
        let path = &named(path);
        let opened = open(path).map_err(|error| problem::unreadable(path, &error))?;
        Source::take(opened.file, path)
    }

    fn take(from: impl Read, path: &Path) -> Result<Source, Failure> {
        let mut bytes = Vec::new();
        from.take(MOST + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| problem::unreadable(path, &error))?;
        if bytes.len() as u64 > MOST {
            return Err(source_too_large(path, MOST).into());
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let bytes = error.as_bytes();
            let line = 1 + bytes[..offset]
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count();
            not_utf8(path, offset, line, bytes[offset])
        })?;
        Ok(Source {
            name: path.display().to_string(),
            text,
        })
    }

    /// The report of an error of a run. What a check found, or has no derivative, is shown in the text.
    pub(crate) fn refusal(&self, error: sim_runtime::Error) -> Failure {
        if let sim_runtime::Error::NoDerivative {
            span: Some(span), ..
        } = error
        {
            return self.failure(vec![Diagnostic {
                code: error.code(),
                slug: "no_derivative",
                severity: Severity::Error,
                message: error.to_string(),
                labels: vec![Label {
                    span,
                    text: "here".to_owned(),
                }],
                help: error.help(),
                fixes: Vec::new(),
            }]);
        }
        let Some(fault) = error.fault() else {
            return error.into();
        };
        let label = |(span, text)| Label { span, text };
        self.failure(vec![Diagnostic {
            code: error.code(),
            slug: "fault",
            severity: Severity::Error,
            message: fault.message(),
            labels: fault.labels().into_iter().map(label).collect(),
            help: error.help(),
            fixes: Vec::new(),
        }])
    }

    /// The report of this model's mistakes.
    pub(crate) fn failure(&self, diagnostics: Vec<Diagnostic>) -> Failure {
        Failure::Model {
            name: self.name.clone(),
            source: self.text.clone(),
            diagnostics,
        }
    }
}
