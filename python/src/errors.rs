//! Exceptions: those of `simc.errors`, made of the compiler's diagnostics and the runtime's errors.

use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};
use sim_compiler::{
    diagnostic::{Diagnostic, Label, Severity, render},
    span::Span,
};
use sim_runtime::Error;

/// A model's text, and what the user calls it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A class of `simc.errors`.
fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("simc.errors")?.getattr(name)
}

/// The exception that `class(*arguments)` makes.
fn raised<'py>(py: Python<'py>, name: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    match class(py, name).and_then(|class| class.call1(arguments)) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// `RunError` with a code, a message and a help line.
pub(crate) fn run_error(code: &str, message: &str, help: Option<&str>) -> PyErr {
    Python::attach(|py| raised(py, "RunError", (code, message, help)))
}

/// The exception of an error of the runtime. What a check found, or has no derivative, is shown in the text.
pub(crate) fn of(source: &Source, error: &Error) -> PyErr {
    Python::attach(|py| match diagnostics_of(error) {
        Some(diagnostics) if matches!(error, Error::Compile { .. }) => {
            compile_error(py, source, &diagnostics)
        }
        Some(diagnostics) => {
            let text = rendered(source, &diagnostics);
            let class = match error.fault() {
                Some(_) => "FaultError",
                None => "RunError",
            };
            match listed(py, source, &diagnostics) {
                Ok(listed) => {
                    let (code, message, help) = (error.code(), error.to_string(), error.help());
                    raised(py, class, (code, message, help, text, listed))
                }
                Err(error) => error,
            }
        }
        None => {
            let class = match error {
                Error::UnknownName { .. } => "UnknownNameError",
                _ => "RunError",
            };
            raised(py, class, (error.code(), error.to_string(), error.help()))
        }
    })
}

/// The exception of a model's mistakes.
pub(crate) fn compile_error(py: Python<'_>, source: &Source, diagnostics: &[Diagnostic]) -> PyErr {
    match listed(py, source, diagnostics) {
        Ok(listed) => raised(py, "CompileError", (rendered(source, diagnostics), listed)),
        Err(error) => error,
    }
}

/// The places in the source that an error has, as diagnostics.
fn diagnostics_of(error: &Error) -> Option<Vec<Diagnostic>> {
    let of = |slug, message, labels: Vec<(Span, String)>| {
        let label = |(span, text)| Label { span, text };
        vec![Diagnostic {
            code: error.code(),
            slug,
            severity: Severity::Error,
            message,
            labels: labels.into_iter().map(label).collect(),
            help: error.help(),
            fixes: Vec::new(),
        }]
    };
    match error {
        Error::Compile { diagnostics, .. } => Some(diagnostics.clone()),
        Error::NoDerivative {
            span: Some(span), ..
        } => {
            let labels = vec![(*span, "here".to_owned())];
            Some(of("no_derivative", error.to_string(), labels))
        }
        _ => {
            let fault = error.fault()?;
            Some(of("fault", fault.message(), fault.labels()))
        }
    }
}

/// The diagnostics as `simc` prints them.
pub(crate) fn rendered(source: &Source, diagnostics: &[Diagnostic]) -> String {
    render::render(
        &source.name,
        &source.text,
        diagnostics,
        render::Style::default(),
    )
}

/// The diagnostics as `simc.errors.Diagnostic`s.
pub(crate) fn listed<'py>(
    py: Python<'py>,
    source: &Source,
    diagnostics: &[Diagnostic],
) -> PyResult<Bound<'py, PyList>> {
    let make = class(py, "_diagnostic")?;
    let all = PyList::empty(py);
    for diagnostic in diagnostics {
        let given = PyDict::new(py);
        given.set_item("code", diagnostic.code)?;
        given.set_item(
            "severity",
            match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
        )?;
        given.set_item("message", &diagnostic.message)?;
        given.set_item("help", &diagnostic.help)?;
        let label = |label: &Label| (place(source, label.span), label.text.clone());
        let labels: Vec<_> = diagnostic.labels.iter().map(label).collect();
        given.set_item("labels", labels)?;
        let fix = |fix: &sim_compiler::diagnostic::Fix| {
            let edits = fix.edits.iter();
            let edits = edits.map(|(span, text)| (place(source, *span), text.clone()));
            (fix.title.clone(), edits.collect::<Vec<_>>())
        };
        let fixes: Vec<_> = diagnostic.fixes.iter().map(fix).collect();
        given.set_item("fixes", fixes)?;
        all.append(make.call((), Some(&given))?)?;
    }
    Ok(all)
}

/// Start and end in characters, as Python counts, and the line and column of the start, from 1.
fn place(source: &Source, span: Span) -> (usize, usize, usize, usize) {
    let text = &source.text;
    let characters = |at: usize| text[..text.floor_char_boundary(at)].chars().count();
    let (line, column) = span.position(text);
    let range = span.range();
    (characters(range.start), characters(range.end), line, column)
}
