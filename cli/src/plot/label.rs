//! What the comments of a model say, as titles and labels.

use sim_compiler::manifest::Field;

/// The first sentence of a comment, without its full stop: on one line. A unit in brackets that stands later
/// is added: `Speed of the wind [m/s]`.
pub(super) fn label(doc: &str) -> String {
    let paragraph = doc.trim().split("\n\n").next().unwrap_or_default();
    let words = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = words.find(". ").unwrap_or(words.len());
    let sentence = words[..end].trim_end_matches('.').to_owned();
    match unit(&words) {
        Some(unit) if !sentence.contains(unit) => format!("{sentence} {unit}"),
        Some(_) | None => sentence,
    }
}

/// The label of a field: its comment, or its name.
pub(super) fn of_field(field: &Field) -> String {
    match label(&field.doc) {
        none if none.is_empty() => field.name.clone(),
        label => label,
    }
}

/// Something in brackets that is no interval: `[m/s]`, `[%]`, `[1/year]`.
fn unit(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(from) = rest.find('[') {
        let inside = &rest[from..];
        let to = inside.find(']')?;
        let unit = &inside[..=to];
        let is_short = (3..=14).contains(&unit.len()) && !unit.contains([',', ' ']);
        let names = unit
            .chars()
            .any(|letter| letter.is_alphabetic() || "%°€$".contains(letter));
        if is_short && names {
            return Some(unit);
        }
        rest = &inside[to + 1..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn labels_are_first_sentences_with_their_units() {
        assert_eq!(label("Price at expiry."), "Price at expiry");
        assert_eq!(
            label("Speed\nof the wind. In [m/s]."),
            "Speed of the wind [m/s]"
        );
        assert_eq!(label("Height [m]. Never negative."), "Height [m]");
        assert_eq!(
            label("Share, in [0, 1]. See [there is more]."),
            "Share, in [0, 1]"
        );
        assert_eq!(label("First.\n\nSecond [kg]."), "First");
        assert_eq!(label(""), "");
    }
}
