//! Breaking of long lines, as text: after a comma or an operator, where it separates most.

/// Columns of a line at most, unless it has no place to break.
const WIDTH: usize = 110;

/// Breaks the last line of `out`, which begins at byte `start` with `indent` blanks.
pub(super) fn wrap(out: &mut String, start: usize, indent: usize) {
    if out.len() - start <= WIDTH {
        return;
    }
    let line = out.split_off(start);
    let mut rest = line.as_str();
    while let Some(at) = place(rest) {
        out.push_str(rest[..at].trim_end());
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent + 4));
        rest = &rest[at..];
        if rest.len() + indent + 4 <= WIDTH {
            break;
        }
    }
    out.push_str(rest);
}

/// The byte after the blank at which to break: of those within the width, the one in the fewest brackets, the
/// last of these; none if the rest fits or has no place to break.
fn place(line: &str) -> Option<usize> {
    if line.len() <= WIDTH {
        return None;
    }
    let bytes = line.as_bytes();
    let text = bytes.iter().position(|b| *b != b' ').unwrap_or(0);
    let (mut depth, mut best) = (0_i32, None::<(i32, usize)>);
    for at in text + 1..bytes.len() {
        match bytes[at - 1] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            _ => {}
        }
        if bytes[at] != b' ' || !breaks_after(bytes[at - 1]) {
            continue;
        }
        if at >= WIDTH {
            // The first place beyond the width, if there was none within.
            best = best.or(Some((depth, at + 1)));
            break;
        }
        // A break near the left edge saves too little to be worth it.
        let early = at < WIDTH / 2;
        if best.is_none_or(|(least, before)| depth <= least || (before < WIDTH / 2 && !early)) {
            best = Some((depth, at + 1));
        }
    }
    best.map(|(_, at)| at)
}

fn breaks_after(byte: u8) -> bool {
    matches!(
        byte,
        b',' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'<' | b'>' | b'='
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_break_outside_brackets_and_keep_their_text() {
        let sum = (0..40)
            .map(|k| format!("max(alpha_{k}, beta_{k})"))
            .collect::<Vec<_>>()
            .join(" + ");
        let line = format!("    let x = {sum};");
        let mut out = format!("before\n{line}");
        wrap(&mut out, 7, 4);
        assert!(out.lines().all(|line| line.len() <= WIDTH), "{out}");
        assert!(
            out.lines()
                .skip(2)
                .all(|line| line.starts_with("        max(")),
            "{out}"
        );
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(words(&out)[1..], words(&line));
    }

    #[test]
    fn a_line_without_a_place_stays() {
        let mut out = "x".repeat(300);
        wrap(&mut out, 0, 0);
        assert_eq!(out, "x".repeat(300));
    }
}
