//! The checked model as text.
