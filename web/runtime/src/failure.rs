//! Errors as JavaScript gets them: objects, of which the shell makes instances of `Error`.

use crate::results::set;
use js_sys::Object;
use sim_compiler::packed::Unreadable;
use sim_runtime::Error;
use wasm_bindgen::JsValue;

/// What is wrong with a program or a launch.
pub(crate) struct Failure {
    code: String,
    message: String,
    help: Option<String>,
    /// Everything, as the command line prints it.
    rendered: String,
}

impl Failure {
    /// An error of the runtime.
    #[cfg_attr(sim_web, optimize(size))]
    pub(crate) fn of(error: Error) -> Failure {
        Failure::new(error.code(), error.to_string(), error.help())
    }

    /// Bytes that are no program of this version.
    #[cfg_attr(sim_web, optimize(size))]
    pub(crate) fn unreadable(why: &Unreadable) -> Failure {
        let needed = env!("CARGO_PKG_VERSION");
        let message = match why {
            Unreadable::OtherVersion(found) => {
                format!(
                    "the model was built by simc {found}, and the runtime is that of simc {needed}"
                )
            }
            Unreadable::Damaged => {
                "the model is no program of simc, or was cut off or changed".to_owned()
            }
        };
        let help = format!("build the model again, with the simc {needed} that built the runtime");
        Failure::new("program", message, Some(help))
    }

    /// An error of the call itself.
    #[cfg_attr(sim_web, optimize(size))]
    pub(crate) fn new(code: &str, message: String, help: Option<String>) -> Failure {
        let way_out = help.as_ref().map(|help| format!("\nhelp: {help}"));
        Failure {
            rendered: format!("error[{code}]: {message}{}", way_out.unwrap_or_default()),
            code: code.to_owned(),
            message,
            help,
        }
    }
}

impl From<Failure> for JsValue {
    #[cfg_attr(sim_web, optimize(size))]
    fn from(failure: Failure) -> JsValue {
        let object = Object::new();
        set(&object, "code", failure.code);
        set(&object, "message", failure.message);
        set(&object, "help", failure.help);
        set(&object, "rendered", failure.rendered);
        object.into()
    }
}
