//! A list of complaints, and the proof that one was made.

use super::{Diagnostic, catalog};

/// The proof that a complaint was made. Whatever replaces something that a stage could not make sense of
/// holds one, so that no mistake passes silently: only a complaint gives a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reported(());

impl Reported {
    /// The proof that this list gives, unless it is empty.
    pub fn by(complaints: &[Diagnostic]) -> Option<Reported> {
        (!complaints.is_empty()).then_some(Reported(()))
    }
}

/// A stage makes no more complaints than a person reads.
pub const MOST_COMPLAINTS: usize = 100;
/// Of more than these, or with more text, not even the places are kept.
const MOST_KEPT: usize = 10_000;
const MOST_TEXT: usize = 1 << 24;

/// The complaints of a stage. They can be added and, at the end, taken; never dropped one by one.
#[derive(Debug, Default)]
pub struct Complaints {
    made: Vec<Diagnostic>,
    count: usize,
    /// Bytes of the messages.
    text: usize,
}

impl Complaints {
    /// Makes a complaint.
    pub fn add(&mut self, complaint: Diagnostic) -> Reported {
        self.count += 1;
        if self.made.len() < MOST_KEPT && self.text < MOST_TEXT {
            let labels = complaint.labels.iter().map(|label| label.text.len());
            self.text += complaint.message.len() + labels.sum::<usize>();
            self.made.push(complaint);
        }
        Reported(())
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// How many were made.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The complaints, each once, in the order of the source; of very many the first.
    pub fn finish(self) -> Vec<Diagnostic> {
        let mut made = self.made;
        made.sort_by_key(Diagnostic::span);
        made.dedup();
        if made.len() > MOST_COMPLAINTS {
            let place = made[MOST_COMPLAINTS].span();
            made.truncate(MOST_COMPLAINTS);
            made.push(catalog::syntax::too_many_mistakes(MOST_COMPLAINTS, place));
        }
        made
    }
}
