//! Names for the generated text: the model's own where WGSL allows it, unique in each scope.

use super::reserved;
use std::collections::HashMap;

/// The names of one namespace, scope by scope. Invariant: a name is given out only while no visible
/// declaration has it, so the text never shadows anything.
pub(super) struct Names {
    /// Per name in use: the last suffix that was tried for it as a base, at least 1.
    taken: HashMap<String, u32>,
    /// What each open scope has to undo: the name, and its former entry.
    undo: Vec<(String, Option<u32>)>,
    /// Where in `undo` each open scope begins.
    scopes: Vec<usize>,
    /// Which names may never be given out.
    reserved: fn(&str) -> bool,
}

impl Names {
    /// For functions and variables.
    pub(super) fn new() -> Self {
        Names::with(reserved::is_reserved)
    }

    /// For the members of a struct.
    pub(super) fn of_members() -> Self {
        Names::with(reserved::is_keyword)
    }

    fn with(reserved: fn(&str) -> bool) -> Self {
        Names {
            taken: HashMap::new(),
            undo: Vec::new(),
            scopes: Vec::new(),
            reserved,
        }
    }

    /// Opens a scope; what is declared from here is forgotten by [`Names::leave`].
    pub(super) fn enter(&mut self) {
        self.scopes.push(self.undo.len());
    }

    /// Closes the innermost scope.
    pub(super) fn leave(&mut self) {
        let begin = self.scopes.pop().unwrap_or(0);
        for (name, former) in self.undo.drain(begin..).rev() {
            match former {
                Some(count) => self.taken.insert(name, count),
                None => self.taken.remove(&name),
            };
        }
    }

    /// Gives out a name: `wish` itself if it is free, else with a suffix.
    pub(super) fn declare(&mut self, wish: &str) -> String {
        let mut base = identifier(wish);
        if (self.reserved)(&base) {
            base.push('_');
        }
        let Some(&last) = self.taken.get(&base) else {
            self.take(base.clone(), 1);
            return base;
        };
        let mut suffix = last;
        let name = loop {
            suffix += 1;
            let name = format!("{base}_{suffix}");
            if !self.taken.contains_key(&name) {
                break name;
            }
        };
        self.take(base, suffix);
        self.take(name.clone(), 1);
        name
    }

    fn take(&mut self, name: String, suffix: u32) {
        let former = self.taken.insert(name.clone(), suffix);
        self.undo.push((name, former));
    }
}

/// The nearest WGSL identifier in ASCII: `order.price` gives `order_price`.
fn identifier(wish: &str) -> String {
    let mut name = String::with_capacity(wish.len() + 4);
    for c in wish.chars() {
        if c.is_ascii_alphanumeric() {
            if name.is_empty() && c.is_ascii_digit() {
                name.push('_');
            }
            name.push(c);
        } else if c.is_ascii() {
            if name != "_" {
                name.push('_');
            }
        } else {
            name.push_str(&format!("u{:x}", u32::from(c)));
        }
    }
    // WGSL allows neither `_` nor names that begin with two of them.
    if name.is_empty() || name == "_" {
        name = "value".to_owned();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_while_visible_and_free_again_after_their_scope() {
        let mut names = Names::new();
        assert_eq!(names.declare("x"), "x");
        names.enter();
        assert_eq!(names.declare("x"), "x_2");
        assert_eq!(names.declare("x"), "x_3");
        names.leave();
        assert_eq!(names.declare("x"), "x_2");
        assert_eq!(names.declare("x_2"), "x_2_2");
        assert_eq!(names.declare("y_2"), "y_2");
        assert_eq!(names.declare("y"), "y");
        assert_eq!(names.declare("y"), "y_3");
    }

    #[test]
    fn every_wish_becomes_an_identifier() {
        let mut names = Names::new();
        let cases = [
            ("order.price", "order_price"),
            ("target", "target_"),
            ("min", "min_"),
            ("div_i32", "div_i32_"),
            ("__hidden", "_hidden"),
            ("_", "value"),
            ("", "value_2"),
            ("2x", "_2x"),
            ("α", "u3b1"),
        ];
        for (wish, name) in cases {
            assert_eq!(names.declare(wish), name);
        }
        assert_eq!(Names::of_members().declare("min"), "min");
        assert_eq!(Names::of_members().declare("target"), "target_");
    }
}
