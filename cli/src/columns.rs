//! Tables for people, which fit a terminal.

use std::fmt::Write;

/// Columns of a terminal that a table may take.
const WIDTH: usize = 100;
/// A longer cell stands as it is, and its column is no wider for it.
const MOST_WIDTH: usize = 100;

/// Where cells stand in their columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flush {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Cells in columns, the first of them flush left. Where they do not fit side by side, the other columns
/// stand in several blocks of lines, each with the first column before it. An empty line ends each block.
pub(crate) fn table(lines: &[Vec<String>], flush: Flush) -> String {
    let count = lines.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(|column| width(lines, column)).collect();
    let mut text = String::new();
    let mut first = 1;
    while first < count || first == 1 && count == 1 {
        let mut end = first;
        let mut total = widths[0];
        while end < count && (end == first || total + 2 + widths[end] <= WIDTH) {
            total += 2 + widths[end];
            end += 1;
        }
        block(&mut text, lines, &widths, first..end, flush);
        first = end.max(first + 1);
    }
    text
}

fn width(lines: &[Vec<String>], column: usize) -> usize {
    let cells = lines.iter().filter_map(|line| line.get(column));
    let widths = cells.map(|cell| cell.chars().count());
    widths
        .filter(|width| *width <= MOST_WIDTH)
        .max()
        .unwrap_or(0)
}

fn block(
    text: &mut String,
    lines: &[Vec<String>],
    widths: &[usize],
    columns: std::ops::Range<usize>,
    flush: Flush,
) {
    for line in lines {
        let mut row = format!("{}{}", line[0], blanks(&line[0], widths[0]));
        for (cell, &width) in line
            .iter()
            .zip(widths)
            .take(columns.end)
            .skip(columns.start)
        {
            let blanks = blanks(cell, width);
            let _ = match flush {
                Flush::Left => write!(row, "  {cell}{blanks}"),
                Flush::Right => write!(row, "  {blanks}{cell}"),
            };
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text.push('\n');
}

/// What a cell lacks of the width of its column.
fn blanks(cell: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(cell.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|&cell| cell.to_owned()).collect()
    }

    #[test]
    fn cells_stand_in_columns() {
        let lines = [line(&["name", "n"]), line(&["x", "100"])];
        assert_eq!(table(&lines, Flush::Right), "name    n\nx     100\n\n");
        assert_eq!(table(&lines, Flush::Left), "name  n\nx     100\n\n");
        assert_eq!(table(&[line(&["alone"])], Flush::Left), "alone\n\n");
        assert_eq!(table(&[], Flush::Left), "");
    }

    #[test]
    fn a_wide_table_has_several_blocks() {
        let wide = "y".repeat(60);
        let lines = [line(&["output", &wide, &wide, "z"])];
        let expected = format!("output  {wide}\n\noutput  {wide}  z\n\n");
        assert_eq!(table(&lines, Flush::Right), expected);
    }

    #[test]
    fn a_long_name_makes_no_wide_table() {
        let long = "x".repeat(70_000);
        let lines = [line(&["output", "count"]), line(&[&long, "1"])];
        let table = table(&lines, Flush::Right);
        let lines: Vec<usize> = table.lines().map(str::len).collect();
        assert_eq!(lines, [13, 70_007, 0]);
    }
}
