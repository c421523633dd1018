//! The macro that defines the errors. An entry has a variant of [`Error`](super::Error) with its code,
//! message, help line and explanation.

/// What happens to a backend that returned an error.
pub(super) enum After {
    /// The next run uses it.
    KeepBackend,
    /// It may be broken, and is dropped.
    DropBackend,
}

/// Defines the errors. An entry is its explanation, code, slug and variant, the message, the help line and
/// what happens to the backend; messages and help lines can use the fields.
macro_rules! errors {
    ($(
        $(#[doc = $doc:literal])+
        $code:ident $slug:ident $variant:ident $({ $( $(#[$meta:meta])+ $field:ident : $ty:ty ),+ $(,)? })?
        says($($says:tt)+)
        help($help:expr)
        after($after:ident)
    )+) => {
        /// The errors of a launch (codes `E07xx`) and of a device (`E08xx`).
        #[derive(Debug, thiserror::Error)]
        #[non_exhaustive]
        pub enum Error {
            /// The source text does not compile. [`diagnostic::render`](crate::diagnostic::render) shows the
            /// diagnostics in the text.
            #[error("the model does not compile:{}", all_messages(diagnostics, source_text))]
            Compile {
                /// The compiler's diagnostics, at least one.
                diagnostics: Vec<Diagnostic>,
                /// The source text, for rendering the diagnostics.
                source_text: String,
            },
            $(
                $(#[doc = $doc])+
                #[error($($says)+)]
                $variant $({ $( $(#[$meta])+ $field: $ty ),+ })?,
            )+
        }

        impl Error {
            /// The code of the error; [`explanations`] has more about it. If a model does not compile, the
            /// code of the first diagnostic.
            pub fn code(&self) -> &'static str {
                match self {
                    Error::Compile { diagnostics, .. } => {
                        diagnostics.first().map_or("E0700", |first| first.code)
                    }
                    $(Error::$variant $({ $($field: _),+ })? => stringify!($code),)+
                }
            }

            /// How to resolve the error, if that is known.
            #[allow(unused_variables, reason = "a help line uses few of the fields")]
            pub fn help(&self) -> Option<String> {
                match self {
                    Error::Compile { .. } => None,
                    $(Error::$variant $({ $($field),+ })? => $help,)+
                }
            }

            fn after(&self) -> After {
                match self {
                    Error::Compile { .. } => After::KeepBackend,
                    $(Error::$variant $({ $($field: _),+ })? => After::$after,)+
                }
            }
        }

        /// `(code, slug, text)` of every error but [`Error::Compile`], by code.
        pub fn explanations() -> &'static [(&'static str, &'static str, &'static str)] {
            &[$((stringify!($code), stringify!($slug), concat!($($doc, "\n"),+)),)+]
        }
    };
}
pub(super) use errors;
