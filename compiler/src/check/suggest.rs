//! "Did you mean …?": the nearest legal name.

/// Comparisons of names for all suggestions about a model: a text full of unknown names must not take time
/// as the square of its length.
const COMPARISONS: usize = 1 << 18;

/// Finds what was meant, until that has taken too long.
#[derive(Debug, Default)]
pub(crate) struct Suggestions {
    compared: usize,
}

impl Suggestions {
    /// The candidate most similar to `name`, if one is similar enough to be what was meant.
    pub(crate) fn nearest<'c>(
        &mut self,
        name: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        let left = COMPARISONS - self.compared;
        // A name as long as a book is not a slip of the finger, and the table below is quadratic.
        if name.len() > 64 || left == 0 {
            return None;
        }
        // Of a single letter only the case can be wrong: any other letter is as near as the next.
        let length = name.chars().count();
        let limit = (length / 3).max(1);
        let compared = &mut self.compared;
        candidates
            .into_iter()
            .take(left)
            .inspect(|_| *compared += 1)
            .filter(|candidate| candidate.len() <= 64 && *candidate != name)
            .filter(|candidate| length > 1 || candidate.eq_ignore_ascii_case(name))
            .map(|candidate| (distance(name, candidate), candidate))
            .filter(|(distance, _)| *distance <= limit)
            .min()
            .map(|(_, candidate)| candidate)
    }
}

/// Edits from one word to the other: insertions, deletions, substitutions and swaps of neighbours
/// (optimal string alignment); a difference in case only counts as one.
fn distance(a: &str, b: &str) -> usize {
    if a.eq_ignore_ascii_case(b) {
        return 1;
    }
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let swap = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1)
                .min(rows[i][j - 1] + 1)
                .min(rows[i - 1][j - 1] + swap);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}
