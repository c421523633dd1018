//! Random models whose agents can be split over lanes: loops over arrays, sums, generators of the model's
//! own, agents that stop. All floats are small integers, so that sums have the same bits in any order.

use crate::generate::Dice;
use std::fmt::Write;

/// A model for a seed.
pub fn model(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x7368_6172);
    let len = [4, 8, 12, 16, 20, 32][dice.below(6)];
    let mut text = format!(
        "agents 70\nsteps {}\nconst N = {len}\n\n\
         fn wrap(z: f32) -> f32 {{ return z - 8.0 * floor(z / 8.0) }}\n\n",
        9 + dice.below(20)
    );
    for (name, p, q) in [("w", 7, 3), ("v", 5, 2)] {
        let (p, q) = (p + dice.below(4), q + dice.below(4));
        let _ = writeln!(
            text,
            "input {name}: [f32; N] = [for i in 0..N: f32((i * {p} + i32(agent) * {q}) % 5) - 2.0]"
        );
    }
    text += "\nstate x = f32(i32(agent) % 3)\nstate y = 1.0\nstate pair = vec2(1.0, 2.0)\n\
             state held = [0.0; N]\nstate kept = [1.0; N]\nstate n = 0\nstate odd = false\n\
             state g = u32(agent) * 2654435761u + 1u\n\nstep t {\n";
    let mut arrays = vec!["w", "v", "held", "kept"]
        .into_iter()
        .map(str::to_owned)
        .collect();
    let mut scalars = vec!["x", "y", "pair.x", "f32(t % 4)"]
        .into_iter()
        .map(str::to_owned)
        .collect();
    for k in 0..3 + dice.below(5) {
        statement(&mut dice, k, &mut arrays, &mut scalars, &mut text);
    }
    text += "    n += 1\n}\n\n";
    let whole = match dice.below(2) {
        0 => "sum(for i in 0..N: held[i] * y)",
        _ => "y - x",
    };
    let _ = writeln!(text, "output score = x + pair.x\noutput whole = {whole}");
    text += "output last = g\noutput count = n\noutput flag = odd\n";
    text
}

/// Adds a statement, and the names that it gives.
fn statement(
    dice: &mut Dice,
    k: usize,
    arrays: &mut Vec<String>,
    scalars: &mut Vec<String>,
    text: &mut String,
) {
    let element = term(dice, arrays, scalars);
    let scalar = scalars[dice.below(scalars.len())].clone();
    let line = match dice.below(14) {
        0..=2 => {
            scalars.push(format!("s{k}"));
            let fold = ["sum", "sum", "min", "max"][dice.below(4)];
            format!("let s{k} = wrap({fold}(for i in 0..N: {element}))")
        }
        3 | 4 => {
            arrays.push(format!("a{k}"));
            format!("let a{k} = [for i in 0..N: {element}]")
        }
        5 => format!("held = [for i in 0..N: wrap(held[i] + {element})]"),
        6 => format!("for i in 0..N {{ kept[i] = wrap(kept[i] - {element}) }}"),
        7 => format!("x = wrap(x + {scalar} * y)"),
        8 => format!("if {scalar} > 3.0 {{ y = wrap(y + 1.0) odd = !odd }}"),
        9 => format!("pair = vec2(wrap({scalar} + 1.0), pair.x)"),
        10 => {
            scalars.push("f32(g >> 30)".to_owned());
            "g = g * 1664525u + 1013904223u".to_owned()
        }
        _ => format!("if wrap({scalar} + f32(t)) == 5.0 && t > 4 {{ y = 3.0 stop }}"),
    };
    let _ = writeln!(text, "    {line}");
}

/// A small whole number for element `i`.
fn term(dice: &mut Dice, arrays: &[String], scalars: &[String]) -> String {
    let mut pick = || match dice.below(4) {
        0 => scalars[dice.below(scalars.len())].clone(),
        1 => "f32(i % 3)".to_owned(),
        _ => format!("{}[i]", arrays[dice.below(arrays.len())]),
    };
    let (a, b, c) = (pick(), pick(), pick());
    match dice.below(4) {
        0 => format!("wrap({a} + {b})"),
        1 => format!("wrap({a} * {b} - {c})"),
        2 => format!("wrap(if {a} < {b} {{ {c} }} else {{ {b} }})"),
        _ => format!("wrap({a} + ({b} * 2.0 + {c} * 3.0))"),
    }
}
