//! Changes of bytes, which know nothing of the language.

use crate::dice::Dice;

/// Deletes, doubles, flips or inserts some bytes; what is no UTF-8 afterwards becomes U+FFFD.
pub fn change(dice: &mut Dice, text: &str, other: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + dice.below(4) {
        let place = dice.below(bytes.len() + 1);
        match dice.below(7) {
            0 if place < bytes.len() => {
                bytes.remove(place);
            }
            1 if place < bytes.len() => bytes[place] ^= 1 << dice.below(8),
            2 => bytes.insert(place, dice.below(128) as u8),
            3 => insert(&mut bytes, place, dice.pick(&ODD).as_bytes()),
            4 => {
                let end = (place + 1 + dice.below(20)).min(bytes.len());
                let piece = bytes[place..end].to_vec();
                insert(&mut bytes, place, &piece);
            }
            5 => {
                let end = (place + 1 + dice.below(40)).min(bytes.len());
                bytes.drain(place..end);
            }
            _ => {
                let from = dice.below(other.len());
                let to = (from + 1 + dice.below(60)).min(other.len());
                insert(&mut bytes, place, &other.as_bytes()[from..to]);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Texts that lexers stumble over.
const ODD: [&str; 16] = [
    "\0", "\r", "\r\n", "\t", "\u{feff}", "é", "𝒙", "\u{202e}", "\u{200b}", "\"", "'", "`", "/*",
    "//", "///", "\\",
];

fn insert(bytes: &mut Vec<u8>, place: usize, piece: &[u8]) {
    bytes.splice(place..place, piece.iter().copied());
}

/// Keeps the beginning only.
pub fn cut(dice: &mut Dice, text: &str, _: &str) -> String {
    let mut end = dice.below(text.len() + 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
