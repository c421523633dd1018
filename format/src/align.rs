//! Lines to text, with the parts of neighbouring lines under one another: `=`, `~` and `in` of
//! declarations and assignments of one kind, and the comments behind them.
//!
//! A run of lines is aligned as far as no line gets wider than `WIDTH` by it.

/// The widest line, in columns. Comments, and what cannot be broken, may be wider.
pub(crate) const WIDTH: usize = 100;

/// A place on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Here the line may be widened, to stand under its neighbours of this kind.
    Cell(Kind),
    /// The declaration or statement with the cells ends.
    End,
}

/// What only aligns with its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `agents` and `steps`
    Count,
    /// `const`
    Const,
    /// `param`
    Param,
    /// `input`
    Input,
    /// `data`, in a test
    Data,
    /// `state`
    State,
    /// `output`
    Output,
    /// `record`, `observe`
    Series,
    /// `let` and `var`
    Binding,
    /// `x = e`
    Assignment,
    /// `x' = e`
    Equation,
}

/// A line of the result.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// The line with its indentation, without comment.
    pub(crate) text: String,
    /// Places on it, in order.
    pub(crate) marks: Vec<(usize, Mark)>,
    /// The comment at its end.
    pub(crate) comment: Option<String>,
    /// Whether there is nothing but the comment.
    pub(crate) own_comment: bool,
}

impl Line {
    /// Whether nothing has been written on the line.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.comment.is_none()
    }

    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start().len()
    }

    /// The kind of what is declared or assigned, if it is whole on this line, and the place of a column.
    fn cell(&self, column: usize) -> Option<(Kind, usize)> {
        let begins = matches!(self.marks.first(), Some((_, Mark::Cell(_))));
        let whole = begins && matches!(self.marks.last(), Some((_, Mark::End)));
        match (whole, self.marks.get(column)) {
            (true, Some((at, Mark::Cell(kind)))) => Some((*kind, *at)),
            _ => None,
        }
    }
}

/// The text of the lines.
pub(crate) fn join(mut lines: Vec<Line>) -> String {
    for column in 0..2 {
        align_cells(&mut lines, column);
    }
    let gaps = comment_gaps(&lines);
    let mut text = String::new();
    for (line, gap) in lines.iter().zip(gaps) {
        text.push_str(&line.text);
        if let Some(comment) = &line.comment {
            text.extend(std::iter::repeat_n(' ', gap));
            text.push_str(comment);
        }
        text.push('\n');
    }
    text
}

/// Lines that are aligned together.
#[derive(Default)]
struct Run {
    /// Their indices, and the place of each that moves.
    members: Vec<(usize, usize)>,
    /// The rightmost place.
    target: usize,
    /// The longest rest behind a place.
    rest: usize,
}

impl Run {
    /// Takes a line in, if the run stays within the width.
    fn takes(&mut self, line: usize, at: usize, rest: usize) -> bool {
        let (target, longest) = (self.target.max(at), self.rest.max(rest));
        if !self.members.is_empty() && target + longest > WIDTH {
            return false;
        }
        self.members.push((line, at));
        (self.target, self.rest) = (target, longest);
        true
    }
}

fn align_cells(lines: &mut [Line], column: usize) {
    let mut runs: Vec<Run> = Vec::new();
    let mut last: Option<(Kind, usize)> = None;
    for (index, line) in lines.iter().enumerate() {
        if line.own_comment {
            continue;
        }
        let Some((kind, at)) = line.cell(column) else {
            last = None;
            continue;
        };
        let like = (kind, line.indent());
        let rest = line.text.len() - at;
        let joined = last == Some(like)
            && runs
                .last_mut()
                .is_some_and(|run| run.takes(index, at, rest));
        if !joined {
            let mut run = Run::default();
            run.takes(index, at, rest);
            runs.push(run);
        }
        last = Some(like);
    }
    for run in runs {
        for (index, at) in run.members {
            widen(&mut lines[index], column, at, run.target - at);
        }
    }
}

fn widen(line: &mut Line, column: usize, at: usize, by: usize) {
    line.text.insert_str(at, &" ".repeat(by));
    for (place, _) in &mut line.marks[column..] {
        *place += by;
    }
}

/// The spaces before the comment of each line.
fn comment_gaps(lines: &[Line]) -> Vec<usize> {
    let mut gaps = vec![0; lines.len()];
    let mut runs: Vec<Run> = Vec::new();
    let mut last = None;
    for (index, line) in lines.iter().enumerate() {
        let comment = line.comment.as_ref().filter(|_| !line.own_comment);
        let Some(comment) = comment else {
            last = None;
            continue;
        };
        let (at, rest) = (line.text.len(), comment.chars().count() + 1);
        let joined = last == Some(line.indent())
            && runs
                .last_mut()
                .is_some_and(|run| run.takes(index, at, rest));
        if !joined {
            let mut run = Run::default();
            run.takes(index, at, rest);
            runs.push(run);
        }
        last = Some(line.indent());
    }
    for run in runs {
        for (index, at) in run.members {
            gaps[index] = run.target - at + 1;
        }
    }
    gaps
}
