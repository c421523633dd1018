//! Axes: where a value lies on one, and which values are written beside it.

/// What is written along an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Numbers.
    Numbers,
    /// Whole numbers: none between them is written.
    Whole,
    /// Shares of a whole, as percentages.
    Shares,
    /// Positive numbers by their logarithms.
    Logarithms,
    /// Names, of 0, 1, 2, and so on.
    Names(Vec<String>),
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    /// What its values are.
    pub(super) label: String,
    /// The values at its ends, of which the second is greater.
    pub(super) range: [f64; 2],
    pub(super) kind: Kind,
}

/// Values that are written along an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ticks {
    /// Those values.
    pub(super) at: Vec<f64>,
    /// How they are written.
    pub(super) labels: Vec<String>,
    /// A power of ten that they are multiplied by; 0 for none.
    pub(super) power: i32,
}

impl Axis {
    /// An axis from the least to the greatest value; of one value alone, around it.
    pub(super) fn new(label: impl Into<String>, low: f64, high: f64) -> Axis {
        Axis {
            label: label.into(),
            range: widened(low, high),
            kind: Kind::Numbers,
        }
    }

    /// The same of another kind.
    pub(super) fn of(self, kind: Kind) -> Axis {
        Axis { kind, ..self }
    }

    /// The same with some room beyond its ends, but not beyond a zero where the values begin.
    pub(super) fn with_room(mut self) -> Axis {
        let [low, high] = self.range;
        let room = 0.05 * (high - low);
        let begins_at_zero = low >= 0.0 && low <= 0.3 * high;
        self.range = match begins_at_zero {
            true => [0.0, high + room],
            false => [low - room, high + room],
        };
        self
    }

    /// Where a value lies: 0 at the lower end, 1 at the upper one.
    pub(super) fn place(&self, value: f64) -> f64 {
        let [low, high] = self.range;
        match self.kind {
            Kind::Logarithms => (value / low).ln() / (high / low).ln(),
            Kind::Numbers | Kind::Whole | Kind::Shares | Kind::Names(_) => {
                (value - low) / (high - low)
            }
        }
    }

    /// About `count` values to be written, two if there can be; of names all of them.
    pub(super) fn ticks(&self, count: usize) -> Ticks {
        let counts = count.max(2)..=count.max(2) + 8;
        let mut all = counts.map(|count| self.ticks_about(count));
        let several = all.clone().find(|ticks| ticks.at.len() > 1);
        several.or_else(|| all.next()).unwrap_or_default()
    }

    fn ticks_about(&self, count: usize) -> Ticks {
        let [low, high] = self.range;
        match &self.kind {
            Kind::Names(names) => Ticks {
                at: (0..names.len()).map(|at| at as f64).collect(),
                labels: names.clone(),
                power: 0,
            },
            Kind::Logarithms => logarithmic(low, high, count),
            Kind::Numbers => plain(low, high, step(low, high, count)),
            Kind::Whole => plain(low, high, step(low, high, count).max(1.0)),
            Kind::Shares => {
                let step = step(100.0 * low, 100.0 * high, count);
                let at = multiples(100.0 * low, 100.0 * high, step);
                let decimals = decimals(step);
                let label = |value: &f64| format!("{value:.decimals$} %");
                Ticks {
                    labels: at.iter().map(label).collect(),
                    at: at.iter().map(|value| value / 100.0).collect(),
                    power: 0,
                }
            }
        }
    }

    /// Its label, with the power of ten of its ticks.
    pub(super) fn label_with(&self, ticks: &Ticks) -> String {
        match (ticks.power, self.label.as_str()) {
            (0, label) => label.to_owned(),
            (power, "") => format!("×{}", power_of_ten(power)),
            (power, label) => format!("{label} (×{})", power_of_ten(power)),
        }
    }
}

/// The ends of an axis, apart from each other.
fn widened(low: f64, high: f64) -> [f64; 2] {
    match (low < high, low == 0.0) {
        (true, _) => [low, high],
        (false, true) => [-1.0, 1.0],
        (false, false) => [low - 0.5 * low.abs(), low + 0.5 * low.abs()],
    }
}

/// A round step with which about `count` values lie between the ends.
pub(super) fn step(low: f64, high: f64, count: usize) -> f64 {
    let rough = (high - low) / count as f64;
    let power = 10_f64.powf(rough.log10().floor());
    let round = match rough / power {
        part if part <= 1.0 => 1.0,
        part if part <= 2.0 => 2.0,
        part if part <= 5.0 => 5.0,
        _ => 10.0,
    };
    round * power
}

/// The multiples of a step between the ends.
fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    // Some room for rounding, so that an end that is a multiple is among them.
    let first = (low / step - 1e-9).ceil();
    let last = (high / step + 1e-9).floor();
    let count = (last - first).clamp(-1.0, 1000.0) as i32;
    // A zero has no sign.
    (0..=count)
        .map(|at| (first + f64::from(at)) * step + 0.0)
        .collect()
}

fn plain(low: f64, high: f64, step: f64) -> Ticks {
    let at = multiples(low, high, step);
    let greatest = low.abs().max(high.abs());
    let power = match greatest.log10().floor() {
        power if greatest == 0.0 || (-3.0..6.0).contains(&power) => 0,
        power => power as i32,
    };
    let unit = 10_f64.powi(power);
    let decimals = decimals(step / unit);
    let label = |value: &f64| separated(&format!("{:.decimals$}", value / unit));
    Ticks {
        labels: at.iter().map(label).collect(),
        at,
        power,
    }
}

/// The digits after the point that multiples of a step have.
fn decimals(step: f64) -> usize {
    (-(step * 1.000_001).log10().floor()).clamp(0.0, 12.0) as usize
}

/// Powers of ten, with what lies between them where they are few.
fn logarithmic(low: f64, high: f64, count: usize) -> Ticks {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = (high / low).log10();
    let between: &[f64] = match decades {
        few if few < 1.5 => &[1.0, 2.0, 3.0, 5.0],
        few if few < 3.0 && count > 4 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let every = (decades / count as f64).ceil().max(1.0) as i32;
    let powers = (first..=last).filter(|power| power % every == 0);
    let all = powers.flat_map(|power| between.iter().map(move |part| (part, power)));
    let value = |(part, power): (&f64, i32)| part * 10_f64.powi(power);
    let inside = |value: &f64| (low * 0.999_999..=high * 1.000_001).contains(value);
    let at: Vec<f64> = all.map(value).filter(inside).collect();
    let is_plain = low >= 1e-3 && high <= 1e6;
    let label = |&value: &f64| match (is_plain, value.log10()) {
        (true, power) => separated(&format!("{value:.*}", (-power.floor()).max(0.0) as usize)),
        (false, power) if (power - power.round()).abs() < 1e-6 => {
            power_of_ten(power.round() as i32)
        }
        (false, power) => {
            let whole = power.floor() as i32;
            format!("{:.0}×{}", value / 10_f64.powi(whole), power_of_ten(whole))
        }
    };
    Ticks {
        labels: at.iter().map(label).collect(),
        at,
        power: 0,
    }
}

/// A power of ten as it is written by hand.
pub(super) fn power_of_ten(power: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = power.to_string();
    let raised = digits.chars().map(|letter| match letter.to_digit(10) {
        Some(digit) => DIGITS[digit as usize],
        None => '⁻',
    });
    format!("10{}", raised.collect::<String>())
}

/// A number with commas between thousands and a minus sign that is as wide as a plus.
pub(super) fn separated(number: &str) -> String {
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) if digits.contains(|letter| ('1'..='9').contains(&letter)) => ("−", digits),
        Some(digits) => ("", digits),
        None => ("", number),
    };
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = sign.to_owned();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) && digit.is_ascii_digit() {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

/// A number of a note: four digits, and a power of ten where it would be long.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || value == 0.0 {
        return if value == 0.0 {
            "0".to_owned()
        } else {
            value.to_string()
        };
    }
    if !(1e-3..1e6).contains(&size) {
        let power = size.log10().floor() as i32;
        let part = trimmed(&format!("{:.2}", value / 10_f64.powi(power)));
        return format!("{}×{}", separated(&part), power_of_ten(power));
    }
    let decimals = (3.0 - size.log10().floor()).max(0.0) as usize;
    separated(&trimmed(&format!("{value:.decimals$}")))
}

/// A share as a percentage with about two digits; not rounded to nothing, nor to all.
pub(super) fn percent(share: f64) -> String {
    let percentage = 100.0 * share;
    let text = match percentage {
        all if all > 99.9 && all < 100.0 => "> 99.9".to_owned(),
        none if none > 0.0 && none < 0.1 => "< 0.1".to_owned(),
        some => trimmed(&format!("{some:.1}")),
    };
    format!("{text} %")
}

/// Without zeros at the end of a fraction.
fn trimmed(number: &str) -> String {
    match number.contains('.') {
        true => number
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
        false => number.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, kind: Kind) -> (Vec<String>, i32) {
        let ticks = Axis::new("x", low, high).of(kind).ticks(5);
        (ticks.labels, ticks.power)
    }

    fn written(low: f64, high: f64, kind: Kind) -> String {
        let (labels, power) = labels(low, high, kind);
        format!("{} ×{power}", labels.join(" "))
    }

    #[test]
    fn ticks_are_round_and_short() {
        assert_eq!(
            written(0.0, 1.0, Kind::Numbers),
            "0.0 0.2 0.4 0.6 0.8 1.0 ×0"
        );
        assert_eq!(written(-12.0, 11.0, Kind::Numbers), "−10 −5 0 5 10 ×0");
        assert_eq!(
            written(0.0, 252_000.0, Kind::Numbers),
            "0 100,000 200,000 ×0"
        );
        assert_eq!(written(0.0, 4.1e-5, Kind::Numbers), "0 1 2 3 4 ×-5");
        assert_eq!(written(1e9, 3e9, Kind::Numbers), "1.0 1.5 2.0 2.5 3.0 ×9");
        let few = Axis::new("x", -70.0, 150.0).ticks(2).labels;
        assert_eq!(few, ["0", "100"]);
        assert_eq!(written(0.0, 2.0, Kind::Whole), "0 1 2 ×0");
        assert_eq!(written(0.0, 0.031, Kind::Shares), "0 % 1 % 2 % 3 % ×0");
        assert_eq!(written(7.0, 7.0, Kind::Numbers), "4 6 8 10 ×0");
        assert_eq!(
            written(16_777_215.0, 16_777_216.0, Kind::Numbers),
            "1.67772150 1.67772152 1.67772154 1.67772156 1.67772158 1.67772160 ×7"
        );
    }

    #[test]
    fn logarithms_have_powers_of_ten() {
        let kind = || Kind::Logarithms;
        assert_eq!(written(0.5, 2000.0, kind()), "1 10 100 1,000 ×0");
        assert_eq!(written(1.0, 20.0, kind()), "1 2 3 5 10 20 ×0");
        assert_eq!(written(1e-9, 1e9, kind()), "10⁻⁸ 10⁻⁴ 10⁰ 10⁴ 10⁸ ×0");
        assert_eq!(Axis::new("", 1.0, 100.0).of(kind()).place(10.0), 0.5);
    }

    #[test]
    fn numbers_of_notes_are_short() {
        let all = [8.021_352, -1234.56, 0.0, 1e-7, -2.5e12, 99_999.96, f64::NAN];
        let all = all.map(short).join(" ");
        assert_eq!(all, "8.021 −1,235 0 1×10⁻⁷ −2.5×10¹² 100,000 NaN");
        let shares = [0.0, 1e-6, 0.493, 0.999_999, 1.0].map(percent).join(", ");
        assert_eq!(shares, "0 %, < 0.1 %, 49.3 %, > 99.9 %, 100 %");
    }
}
