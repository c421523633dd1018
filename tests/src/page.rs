//! Pages of the documentation: their files, and the blocks of code on them.

use std::path::{Path, PathBuf};

/// A block of code of a page: the lines between two fences that begin their lines.
#[derive(Debug)]
pub struct Block<'a> {
    /// The words behind the fence: a language, and what a reader of it may want to know.
    pub info: Vec<&'a str>,
    /// The lines, each with its end.
    pub text: &'a str,
    /// Where the lines begin in the page, in bytes.
    pub start: usize,
}

impl Block<'_> {
    /// Is it a whole model? One with a mistake, to show the message, says `wrong`.
    pub fn is_model(&self) -> bool {
        self.info.first() == Some(&"sim")
    }

    /// Is it there to show what is refused?
    pub fn is_wrong(&self) -> bool {
        self.info.contains(&"wrong")
    }
}

/// The blocks of a page, in order.
///
/// # Panics
/// If the last one has no end.
pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut open: Option<(Vec<&str>, usize)> = None;
    let mut at = 0;
    for line in page.split_inclusive('\n') {
        if let Some(info) = line.strip_prefix("```") {
            open = match open {
                None => Some((info.split_whitespace().collect(), at + line.len())),
                Some((info, start)) => {
                    blocks.push(Block {
                        info,
                        text: &page[start..at],
                        start,
                    });
                    None
                }
            };
        }
        at += line.len();
    }
    assert!(open.is_none(), "a block of code has no end");
    blocks
}

/// Every page in a folder, at any depth, in the order of their names.
pub fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    for entry in entries {
        let path = entry.expect("a folder that can be read").path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|end| end == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_what_stands_between_fences() {
        let page = "# A\n```sim a.sim\nagents 1\n```\ntext\n```text\n```\n";
        let blocks = blocks(page);
        assert_eq!(blocks.len(), 2);
        assert_eq!(blocks[0].info, ["sim", "a.sim"]);
        assert_eq!(blocks[0].text, "agents 1\n");
        assert_eq!(&page[blocks[0].start..][..8], "agents 1");
        assert!(blocks[0].is_model() && !blocks[0].is_wrong());
        assert_eq!(
            (blocks[1].info.as_slice(), blocks[1].text),
            (&["text"][..], "")
        );
    }
}
