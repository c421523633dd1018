//! The points of a sweep: which params have which values there.

use super::{MOST_RUNS, Sweep};
use crate::{
    failure::Failure,
    launch::{self, Assignment},
    number,
    open::{named, open},
    problem,
    table::{
        cell::{Kind, bits_of, number_of, words_of},
        lines::Lines,
        spellings,
    },
    usage,
};
use sim_compiler::{
    manifest::{Manifest, Param},
    random::{Generator, unit},
};
use sim_runtime::{Array, Simulation, Variation};
use std::path::Path;

/// The longest Sobol sequence, and the most dimensions that the library has numbers for.
const MOST_SOBOL: (u32, usize) = (1 << 16, 256);

/// One value of a param that is swept.
pub(crate) struct Axis<'a> {
    pub(crate) param: &'a Param,
    /// Which of the param's values it is.
    at: usize,
    /// As the user writes it: `sigma`, `w[3]`.
    pub(crate) name: String,
}

/// The points of a sweep.
pub(crate) struct Points<'a> {
    pub(crate) axes: Vec<Axis<'a>>,
    /// By point: the bits of the value on each axis.
    pub(crate) rows: Vec<Vec<u64>>,
    /// By axis: the bits of all values of its param where nothing is swept.
    base: Vec<Vec<u64>>,
}

impl<'a> Points<'a> {
    /// Those that the arguments ask for. Gives the simulation a value for each swept param that has none.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub(crate) fn of(
        args: &Sweep,
        simulation: &mut Simulation,
        manifest: &'a Manifest,
        given: &[Assignment],
    ) -> Result<Points<'a>, Failure> {
        let (axes, rows) = if let Some(path) = &args.sweep_file {
            from_file(&named(path), simulation, manifest)?
        } else if let Some(count) = args.sweep_random {
            let axes = ranged(args, simulation, manifest)?;
            let seed = simulation.current_seed();
            let draw = |point, axis| unit(Generator::default().draw(seed, point, axis, 0));
            let rows = drawn(&axes, count, draw)?;
            (axes, rows)
        } else if let Some(count) = args.sweep_sobol {
            let axes = ranged(args, simulation, manifest)?;
            refuse_long(count, axes.len())?;
            let seed = simulation.current_seed() as u32;
            let rows = drawn(&axes, count, |point, axis| {
                sobol_burley::sample(point, axis, seed)
            })?;
            (axes, rows)
        } else {
            grid(&args.sweep, simulation, manifest)?
        };
        refuse_twins(&axes)?;
        if rows.is_empty() {
            return Err(usage::refused(
                "the sweep has no points",
                "give at least one",
            ));
        }
        let base = axes.iter().map(|axis| base(axis, &rows[0], &axes, given));
        let base = base.collect::<Result<Vec<_>, Failure>>()?;
        for (axis, words) in axes.iter().zip(&base) {
            simulation.set_param(&axis.param.field.name, array(axis.param, words.clone()))?;
        }
        Ok(Points { axes, rows, base })
    }

    /// The difference of a point's runs from the simulation.
    pub(crate) fn variation(&self, point: usize) -> Variation {
        let mut variation = Variation::new();
        for (at, axis) in self.axes.iter().enumerate() {
            let same = |other: &Axis<'_>| std::ptr::eq(other.param, axis.param);
            if self.axes[..at].iter().any(same) {
                continue;
            }
            let mut words = self.base[at].clone();
            for (other, &word) in self.axes.iter().zip(&self.rows[point]) {
                if same(other) {
                    words[other.at] = word;
                }
            }
            variation = variation.param(&axis.param.field.name, array(axis.param, words));
        }
        variation
    }

    /// What is wrong with the values of a point, if anything.
    pub(crate) fn fault(&self, point: usize) -> Option<String> {
        self.axes
            .iter()
            .zip(&self.rows[point])
            .find_map(|(axis, &word)| {
                let [first, last] = axis.param.range?;
                let value = axis.value(word);
                let legal = first <= value && value <= last;
                let text = |value: f64| match axis.kind() {
                    // Ranges of floats are rounded as the floats are.
                    Kind::F32 => (value as f32).to_string(),
                    Kind::F64 | Kind::I32 | Kind::U32 | Kind::Bool | Kind::Enum(_) => {
                        value.to_string()
                    }
                };
                let [value, first, last] = [value, first, last].map(text);
                (!legal).then(|| format!("{} = {value} is not in {first}..{last}", axis.name))
            })
    }
}

impl Axis<'_> {
    pub(crate) fn kind(&self) -> Kind<'_> {
        Kind::of(&self.param.field)
    }

    /// A value as a number.
    pub(crate) fn value(&self, bits: u64) -> f64 {
        number_of(self.param.field.scalar, bits)
    }
}

fn array(param: &Param, bits: Vec<u64>) -> Array {
    let scalar = param.field.scalar;
    Array::shaped(scalar, words_of(scalar, bits), param.field.dims())
}

/// The bits of the values of a param beside those that are swept: those that are given, or the default.
fn base(
    axis: &Axis<'_>,
    first: &[u64],
    axes: &[Axis<'_>],
    given: &[Assignment],
) -> Result<Vec<u64>, Failure> {
    let field = &axis.param.field;
    let name = &field.name;
    if let Some(given) = given.iter().find(|given| given.name == *name) {
        if field.values() == 1 {
            let (why, help) = (
                "`--param` gives it a value",
                "leave out one of the two options",
            );
            return Err(problem::bad_sweep(name, why, help).into());
        }
        let given = launch::param_value(field, &given.value)?;
        return Ok(bits_of(field.scalar, &given.words).collect());
    }
    let mut words = match &axis.param.default {
        Some(words) => bits_of(field.scalar, words).collect(),
        None => {
            let own = axes
                .iter()
                .filter(|other| std::ptr::eq(other.param, axis.param));
            if own.count() < field.values() as usize {
                let why = format!("`{name}` has no default, and not all of its values are swept");
                let help = format!("give the others by `--param {name}=…`");
                return Err(problem::bad_sweep(&axis.name, &why, &help).into());
            }
            vec![0; field.values() as usize]
        }
    };
    // A simulation needs values that the model accepts, even if every point has others.
    if axis.param.default.is_none() {
        for (other, &word) in axes.iter().zip(first) {
            if std::ptr::eq(other.param, axis.param) {
                words[other.at] = word;
            }
        }
    }
    Ok(words)
}

/// The axis of that name.
fn axis<'a>(
    name: &str,
    simulation: &mut Simulation,
    manifest: &'a Manifest,
) -> Result<Axis<'a>, Failure> {
    for param in &manifest.params {
        let field = &param.field;
        let own = name.strip_prefix(field.name.as_str());
        if !own.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.'])) {
            continue;
        }
        let names = spellings(field, 0);
        if let Some(at) = names.iter().position(|known| known == name) {
            let name = name.to_owned();
            return Ok(Axis { param, at, name });
        }
        let (first, last) = (&names[0], &names[names.len() - 1]);
        let (why, help) = match names.len() {
            1 => ("it is one value".to_owned(), format!("write `{first}=…`")),
            count => (
                format!("`{}` has {count} values, `{first}` to `{last}`", field.name),
                format!("name one of them: `--sweep {first}=…`"),
            ),
        };
        return Err(problem::bad_sweep(name, &why, &help).into());
    }
    // The runtime knows which name was meant.
    simulation.set_param(name, 0.0_f32)?;
    let help = "`simc inspect` lists the params";
    Err(problem::bad_sweep(name, "there is no such param", help).into())
}

fn refuse_twins(axes: &[Axis<'_>]) -> Result<(), Failure> {
    let twin = |at: &usize| axes[..*at].iter().any(|axis| axis.name == axes[*at].name);
    match (0..axes.len()).find(twin) {
        Some(at) => Err(problem::given_twice("sweep", &axes[at].name).into()),
        None => Ok(()),
    }
}

type Swept<'a> = (Vec<Axis<'a>>, Vec<Vec<u64>>);

/// All combinations of the values of params; the last one changes fastest.
fn grid<'a>(
    given: &[Assignment],
    simulation: &mut Simulation,
    manifest: &'a Manifest,
) -> Result<Swept<'a>, Failure> {
    let mut axes: Vec<Axis<'a>> = Vec::new();
    let mut values = Vec::new();
    let mut count: usize = 1;
    for Assignment { name, value } in given {
        let axis = axis(name, simulation, manifest)?;
        let own = listed(&axis, value)?;
        count = count.saturating_mul(own.len());
        super::refuse_many(count, 1)?;
        axes.push(axis);
        values.push(own);
    }
    let mut rows = vec![Vec::new()];
    for own in values {
        let longer = |row: &Vec<u64>| -> Vec<Vec<u64>> {
            let each = own.iter().map(|&word| [row.as_slice(), &[word]].concat());
            each.collect()
        };
        rows = rows.iter().flat_map(longer).collect();
    }
    Ok((axes, rows))
}

/// The bits of `LOW:HIGH:COUNT`, or of a list.
fn listed(axis: &Axis<'_>, text: &str) -> Result<Vec<u64>, Failure> {
    let refused = |why: &str, help: &str| -> Failure {
        problem::bad_sweep(&format!("{}={text}", axis.name), why, help).into()
    };
    if let [low, high, count] = text.split(':').collect::<Vec<_>>()[..] {
        return range(axis, [low, high], count).map_err(|(why, help)| refused(&why, help));
    }
    let help = format!(
        "write `{name}=LOW:HIGH:COUNT`, or values with commas between them; {}",
        axis.kind().accepts(),
        name = axis.name
    );
    if text.contains(':') {
        return Err(refused("a range has three parts", &help));
    }
    let word = |part: &str| {
        let word = match axis.kind() {
            Kind::F32 => number::float(part).map(|value| value.to_bits().into()),
            Kind::F64 => number::double(part).map(f64::to_bits),
            Kind::I32 | Kind::U32 | Kind::Bool | Kind::Enum(_) => axis.kind().word(part),
        };
        let word = word.and_then(|word| match axis.value(word).is_nan() {
            true => Err("is no number to compare others with"),
            false => Ok(word),
        });
        word.map_err(|why| refused(&format!("`{part}` {why}"), &help))
    };
    text.split(',').map(|part| word(part.trim())).collect()
}

/// The bits of a range, or what is wrong with it and what helps.
fn range(
    axis: &Axis<'_>,
    ends: [&str; 2],
    count: &str,
) -> Result<Vec<u64>, (String, &'static str)> {
    const HELP: &str = "write LOW:HIGH:COUNT, such as 0.1:0.5:9 for nine values from 0.1 to 0.5";
    let end = |text: &str| match number::double(text.trim()) {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err((format!("`{text}` is not finite"), HELP)),
        Err(why) => Err((format!("`{text}` {why}"), HELP)),
    };
    let (low, high) = (end(ends[0])?, end(ends[1])?);
    let count = number::whole(count.trim()).map_err(|why| (format!("`{count}` {why}"), HELP))?;
    if low >= high {
        return Err((format!("the range from {low} to {high} is empty"), HELP));
    }
    if count < 2 {
        return Err((
            "a range with both ends has at least two values".to_owned(),
            HELP,
        ));
    }
    if count > MOST_RUNS as i128 {
        return Err((
            format!("{} values are too many", number::grouped(count as u64)),
            "take fewer values",
        ));
    }
    let last = (count - 1) as f64;
    let value = |k: i128| match k as f64 {
        k if k == last => high,
        // Multiplied first, so that whole numbers stay whole.
        k => low + (high - low) * k / last,
    };
    let word = |k: i128| match axis.kind() {
        Kind::Bool | Kind::Enum(_) => {
            Err(("it has no range".to_owned(), "list its values with commas"))
        }
        kind => kind.float(value(k)).map_err(|why| {
            let why = format!("value {} of the range, {}, {why}", k + 1, value(k));
            (
                why,
                "choose a number of values that divides the range, or list them",
            )
        }),
    };
    (0..count).map(word).collect()
}

/// The axes of params with ranges.
fn ranged<'a>(
    args: &Sweep,
    simulation: &mut Simulation,
    manifest: &'a Manifest,
) -> Result<Vec<Axis<'a>>, Failure> {
    let mut axes = Vec::new();
    let all = |param: &'a Param| {
        let names = spellings(&param.field, 0).into_iter().enumerate();
        names.map(move |(at, name)| Axis { param, at, name })
    };
    for name in &args.sweep_over {
        let whole = manifest
            .params
            .iter()
            .find(|param| param.field.name == *name);
        match whole {
            Some(param) => axes.extend(all(param)),
            None => axes.push(axis(name, simulation, manifest)?),
        }
    }
    let bounded =
        |param: &Param| (param.range).is_some_and(|range| range.iter().all(|end| end.is_finite()));
    if let Some(axis) = axes.iter().find(|axis| !bounded(axis.param)) {
        let name = &axis.param.field.name;
        let message = format!("the param `{name}` has no range to take values from");
        let help = format!(
            "declare one in the model, `param {name} = … in LOW..HIGH`, or sweep it by `--sweep \
             {name}=LOW:HIGH:COUNT`"
        );
        return Err(problem::no_sweep_range(&message, &help).into());
    }
    if axes.is_empty() {
        let bounded = manifest.params.iter().filter(|param| bounded(param));
        axes.extend(bounded.flat_map(all));
    }
    if axes.is_empty() {
        let message = "no param of the model has a range to take values from";
        let help = "declare ranges in the model, such as `param sigma = 0.2 in 0.01..1.0`, or sweep params \
            by `--sweep NAME=LOW:HIGH:COUNT`";
        return Err(problem::no_sweep_range(message, help).into());
    }
    Ok(axes)
}

fn refuse_long(count: u32, axes: usize) -> Result<(), Failure> {
    let (most, dimensions) = MOST_SOBOL;
    let message = if count > most {
        let most = number::grouped(most.into());
        format!("a Sobol sequence has at most {most} points here")
    } else if axes > dimensions {
        format!("a Sobol sequence has at most {dimensions} params here, and {axes} are swept")
    } else {
        return Ok(());
    };
    let help = "take fewer, or draw points by `--sweep-random N`";
    Err(problem::too_large_sweep(&message, help).into())
}

/// Points in the ranges of axes; `place` gives numbers from 0 to below 1 by point and axis.
fn drawn(
    axes: &[Axis<'_>],
    count: u32,
    place: impl Fn(u32, u32) -> f32,
) -> Result<Vec<Vec<u64>>, Failure> {
    super::refuse_many(count as usize, 1)?;
    let word = |point: u32, (number, axis): (usize, &Axis<'_>)| {
        let [low, high] = axis.param.range.unwrap_or_default();
        let place = f64::from(place(point, number as u32));
        match axis.kind() {
            Kind::F32 => {
                let value = (low + (high - low) * place) as f32;
                // Rounding must not leave the range.
                let value = match f64::from(value) {
                    rounded if rounded < low => value.next_up(),
                    rounded if rounded > high => value.next_down(),
                    _ => value,
                };
                value.to_bits().into()
            }
            Kind::F64 => (low + (high - low) * place).clamp(low, high).to_bits(),
            Kind::I32 => {
                let value = (low + (high - low + 1.0) * place).floor() as i32;
                value.cast_unsigned().into()
            }
            Kind::U32 | Kind::Bool | Kind::Enum(_) => {
                ((low + (high - low + 1.0) * place).floor() as u32).into()
            }
        }
    };
    let row = |point| {
        axes.iter()
            .enumerate()
            .map(|axis| word(point, axis))
            .collect()
    };
    Ok((0..count).map(row).collect())
}

/// The points of a CSV file.
fn from_file<'a>(
    path: &Path,
    simulation: &mut Simulation,
    manifest: &'a Manifest,
) -> Result<Swept<'a>, Failure> {
    let opened = open(path).map_err(|error| problem::unreadable(path, &error))?;
    let mut lines = Lines::of(opened.file, b',');
    let refused = |line: u64, why: &str, help: &str| -> Failure {
        problem::bad_points_file(path, line, why, help).into()
    };
    if !lines.advance(path)? {
        let help = "the first line names the params, every other line is a point";
        return Err(refused(1, "the file is empty", help));
    }
    let text = |lines: &Lines, column| String::from_utf8_lossy(lines.cell(column)).into_owned();
    let names: Vec<String> = (0..lines.cells())
        .map(|column| text(&lines, column))
        .collect();
    if names.iter().all(|name| name.parse::<f64>().is_ok()) {
        let why = "the first line must name the params, but holds only numbers";
        return Err(refused(
            1,
            why,
            "add a line with one name per column above it",
        ));
    }
    let axes = names.iter().map(|name| axis(name, simulation, manifest));
    let axes = axes.collect::<Result<Vec<_>, Failure>>()?;
    let mut rows = Vec::new();
    while lines.advance(path)? {
        let line = lines.start();
        super::refuse_many(rows.len() + 1, 1)?;
        if lines.cells() != axes.len() {
            let why = format!(
                "the row has {} cells for {} params",
                lines.cells(),
                axes.len()
            );
            return Err(refused(line, &why, "every point needs one cell per param"));
        }
        let word = |(column, axis): (usize, &Axis<'_>)| {
            let cell = text(&lines, column);
            axis.kind().word(&cell).map_err(|why| {
                let why = format!("the cell `{cell}` of `{}` {why}", axis.name);
                refused(line, &why, &format!("write {}", axis.kind().accepts()))
            })
        };
        let row = axes.iter().enumerate().map(word);
        rows.push(row.collect::<Result<Vec<_>, Failure>>()?);
    }
    Ok((axes, rows))
}
