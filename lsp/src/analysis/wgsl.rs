//! The kernel that a model becomes, and the map from the model's lines to those of the kernel.

use super::Document;
use serde::Serialize;
use sim_compiler::emit::Origin;

/// The command that answers with a [`Kernel`]; its argument is the address of an open model.
pub const COMMAND: &str = "simc.wgsl";

/// A kernel beside its model.
#[derive(Debug, Serialize)]
pub struct Kernel {
    /// The kernel's text.
    pub text: String,
    /// Rows of a line of the model and the first and last line of the kernel that it went to, in their order;
    /// lines count from 0. A line that was copied has several rows, one that was folded away has none.
    pub lines: Vec<[u32; 3]>,
}

/// The kernel of a model.
///
/// # Errors
/// Why there is none, for the user.
pub fn wgsl(document: &Document) -> Result<Kernel, String> {
    let artifact = sim_compiler::compile(document.text()).map_err(|found| match found.len() {
        1 => "the model has a mistake".to_owned(),
        count => format!("the model has {count} mistakes"),
    })?;
    let text = artifact.wgsl();
    let lines = lines(document, &text, artifact.origins());
    Ok(Kernel { text, lines })
}

/// The rows of [`Kernel::lines`] for a kernel's text and where its expressions come from.
pub fn lines(document: &Document, text: &str, origins: Vec<Origin>) -> Vec<[u32; 3]> {
    let starts = super::document::line_starts(text);
    let line = |at: usize| starts.partition_point(|start| *start <= at) as u32 - 1;
    let mut lines: Vec<[u32; 3]> = origins
        .into_iter()
        .filter(|origin| (origin.span.start as usize) < document.text().len())
        .map(|origin| {
            let from = document.position(origin.span.start as usize).line;
            [from, line(origin.lines.start), line(origin.lines.end - 1)]
        })
        .collect();
    lines.sort_unstable();
    lines.dedup();
    joined(lines)
}

/// Rows whose lines of the kernel follow one another, as one.
fn joined(lines: Vec<[u32; 3]>) -> Vec<[u32; 3]> {
    let mut found: Vec<[u32; 3]> = Vec::with_capacity(lines.len());
    for [from, first, last] in lines {
        match found.last_mut() {
            Some(row) if row[0] == from && first <= row[2] + 1 => row[2] = row[2].max(last),
            _ => found.push([from, first, last]),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "\
agents 10
steps 10
param pull = 0.5
state x = 1.0
state n = poisson(3.0)
step {
    let noise = normal(0.0, 1.0)
    x += pull
        * noise
    if x > 3.0 {
        x = 2.25
    }
}
output last = x + f32(n)
";

    #[test]
    fn lines_of_the_model_lead_to_the_lines_that_they_became() {
        let document = Document::new(MODEL.to_owned());
        let kernel = wgsl(&document).expect("the model has no mistakes");
        let text: Vec<&str> = kernel.text.lines().collect();
        let of = |line: u32| -> String {
            let rows = kernel.lines.iter().filter(|[from, ..]| *from == line);
            rows.flat_map(|[_, first, last]| &text[*first as usize..=*last as usize])
                .copied()
                .collect()
        };
        assert!(of(3).contains("x = 1.0"), "{}", of(3));
        assert!(of(6).contains("normal"), "{}", of(6));
        assert!(of(7).contains("run.pull"), "{}", of(7));
        // One line became of two.
        assert!(of(9).contains("select(x, 2.25, x > 3.0)"), "{}", of(9));
        assert_eq!(of(10), of(9));
        assert!(of(13).contains("outputs["), "{}", of(13));
        assert_eq!(of(5), "", "a line without expressions");
        assert!(
            kernel.lines.iter().all(|[from, ..]| *from <= 13),
            "{kernel:?}"
        );
    }

    #[test]
    fn a_model_with_mistakes_has_no_kernel() {
        let document = Document::new("agents 10\nsteps x\n".to_owned());
        let why = wgsl(&document).expect_err("`x` is no number");
        assert_eq!(why, "the model has a mistake");
    }
}
