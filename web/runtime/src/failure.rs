//! Errors as JavaScript gets them: objects, of which the shell makes instances of `Error`.

use crate::results::set;
use js_sys::{Array, Object};
use sim_runtime::{
    Diagnostic, Error,
    diagnostic::{
        Severity,
        render::{Style, render},
    },
};
use wasm_bindgen::JsValue;

/// The name of a model in reports.
const NAME: &str = "model.sim";

/// What is wrong with a model or a launch.
pub(crate) struct Failure {
    code: String,
    message: String,
    help: Option<String>,
    /// Everything, as the command line prints it.
    rendered: String,
    /// The compiler's messages, if the model does not compile.
    diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// An error of the runtime.
    pub(crate) fn of(error: Error) -> Failure {
        if let Error::Compile {
            diagnostics,
            source_text,
        } = error
        {
            return Failure::mistakes(&source_text, diagnostics);
        }
        Failure::new(error.code(), error.to_string(), error.help())
    }

    /// An error of the call itself.
    pub(crate) fn new(code: &str, message: String, help: Option<String>) -> Failure {
        let way_out = help.as_ref().map(|help| format!("\nhelp: {help}"));
        Failure {
            rendered: format!("error[{code}]: {message}{}", way_out.unwrap_or_default()),
            code: code.to_owned(),
            message,
            help,
            diagnostics: Vec::new(),
        }
    }

    fn mistakes(source: &str, diagnostics: Vec<Diagnostic>) -> Failure {
        let first = diagnostics.first();
        Failure {
            code: first.map_or("", |first| first.code).to_owned(),
            message: first.map_or_else(String::new, |first| first.message.clone()),
            help: first.and_then(|first| first.help.clone()),
            rendered: render(NAME, source, &diagnostics, Style::default()),
            diagnostics,
        }
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> JsValue {
        let object = Object::new();
        set(&object, "code", failure.code);
        set(&object, "message", failure.message);
        set(&object, "help", failure.help);
        set(&object, "rendered", failure.rendered);
        let diagnostics = Array::new();
        for diagnostic in failure.diagnostics {
            let one = Object::new();
            set(&one, "code", diagnostic.code);
            set(&one, "message", diagnostic.message);
            set(&one, "help", diagnostic.help);
            let severity = match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            set(&one, "severity", severity);
            if let Some(label) = diagnostic.labels.first() {
                let range = label.span.range();
                set(&one, "start", range.start as f64);
                set(&one, "end", range.end as f64);
            }
            diagnostics.push(&one);
        }
        set(&object, "diagnostics", diagnostics);
        object.into()
    }
}
