//! `--plot`: pictures of what a run gave, by its kind, in a file or in the terminal.
//!
//! `choice` says what is drawn; `outputs` and `series` make panels of it, which say what lies where in the
//! values' own coordinates. `page` lays panels out as shapes, which `svg` writes and `png` paints; `screen`
//! draws panels with letters.

mod choice;
mod distribution;
mod font;
mod label;
mod outputs;
mod page;
mod panel;
mod png;
mod scale;
mod screen;
mod series;
mod shapes;
mod svg;
mod swept;
mod theme;

use crate::{
    failure::Failure,
    output::{self, Written},
    problem, terminal, usage,
};
use choice::{Quantity, Source, Subject};
use panel::{Page, Panel};
use scale::separated;
use sim_compiler::manifest::{Manifest, SeriesFold};
use sim_runtime::Run;
use std::{
    io::Write,
    path::{Path, PathBuf},
};
pub(crate) use swept::{Curve, Means, Swept, SweptAxis};
use theme::Theme;

/// Panels of a page.
const MOST_PANELS: usize = 12;
/// The least and the greatest width and height of a picture.
const SIZES: std::ops::RangeInclusive<u32> = 200..=4000;

/// Where the help lists them. A heading of the whole struct would go on after it.
const HEADING: &str = "Plots";

/// Arguments that draw the results.
#[derive(Debug, clap::Args)]
pub(crate) struct PlotArgs {
    /// Draw the results: to a file, .svg or .png, or in the terminal if none is named.
    #[arg(
        long,
        help_heading = HEADING,
        value_name = "FILE",
        num_args = 0..=1,
        default_missing_value = "-",
        value_parser = file,
        value_hint = clap::ValueHint::FilePath
    )]
    plot: Option<PathBuf>,
    /// What to draw, with commas: names of outputs and series, `x:y` for one against the other, `a+b` for
    /// several curves in one plot [default: all].
    #[arg(long, help_heading = HEADING, value_name = "NAMES", requires = "plot", value_delimiter = ',')]
    show: Vec<String>,
    /// Colours of the picture [default: light].
    #[arg(long, help_heading = HEADING, value_enum, requires = "plot", hide_default_value = true)]
    theme: Option<Theme>,
    /// Width and height of the picture; a PNG has twice as many pixels, for sharp screens.
    #[arg(long, help_heading = HEADING, value_name = "WxH", requires = "plot", value_parser = size)]
    size: Option<[u32; 2]>,
}

/// The value of `--plot`. A model that follows it is no picture.
fn file(text: &str) -> Result<PathBuf, String> {
    match text.ends_with(".sim") {
        true => Err("that is a model, and stands before `--plot`".to_owned()),
        false => Ok(PathBuf::from(text)),
    }
}

/// The value of `--size`.
fn size(text: &str) -> Result<[u32; 2], String> {
    let (width, height) = text
        .split_once(['x', 'X', '×'])
        .ok_or("write it as 1200x800")?;
    let number = |text: &str| -> Result<u32, String> {
        let number = text.trim().parse().map_err(|_| "write it as 1200x800")?;
        match SIZES.contains(&number) {
            true => Ok(number),
            false => Err(format!("both lie in {} to {}", SIZES.start(), SIZES.end())),
        }
    };
    Ok([number(width)?, number(height)?])
}

/// Where a picture goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Terminal,
    Svg,
    Png,
}

impl Form {
    fn of(path: &Path) -> Option<Form> {
        if path == Path::new("-") {
            return Some(Form::Terminal);
        }
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "svg" => Some(Form::Svg),
            "png" => Some(Form::Png),
            _ => None,
        }
    }
}

impl PlotArgs {
    /// Is a picture asked for, so that outputs have to be kept?
    pub(crate) fn is_given(&self) -> bool {
        self.plot.is_some()
    }

    /// Does it go to standard output?
    pub(crate) fn is_of_terminal(&self) -> bool {
        self.plot.as_deref() == Some(Path::new("-"))
    }

    /// Looks at the file's ending and place, before anything is done. A file that is there already must be
    /// one that may be replaced.
    ///
    /// # Errors
    /// Why it could not be written after the run.
    pub(crate) fn check(&self, replaces: bool) -> Result<(), Failure> {
        match &self.plot {
            None => Ok(()),
            Some(path) => match Form::of(path) {
                None => Err(problem::unknown_picture_form(path).into()),
                Some(Form::Terminal) => Ok(()),
                Some(Form::Svg | Form::Png) if !replaces && output::is_there(path) => {
                    Err(problem::file_exists(&[path]).into())
                }
                Some(Form::Svg | Form::Png) => output::check_place(path),
            },
        }
    }

    /// What is to be drawn of a model's results; nothing if nobody asked.
    ///
    /// # Errors
    /// If there is nothing to draw, or nothing of a name.
    pub(crate) fn plan(&self, manifest: &Manifest) -> Result<Option<Plan>, Failure> {
        let Some(path) = &self.plot else {
            return Ok(None);
        };
        let mut subjects = choice::subjects(manifest, &self.show)?;
        let pairs = with_deviations(&mut subjects);
        let form = Form::of(path).unwrap_or(Form::Terminal);
        Ok(Some(Plan {
            path: path.clone(),
            form,
            subjects: subjects.into_iter().zip(pairs).collect(),
            theme: self.theme.unwrap_or_default(),
            size: self.size,
            title: label::label(&manifest.doc),
            has_worlds: manifest.world.is_some(),
            has_steps: manifest.has_step,
        }))
    }
}

/// A picture that was drawn.
#[derive(Debug)]
pub(crate) enum Drawn {
    /// Into a file.
    File(Written),
    /// As text for the terminal.
    Text(String),
}

/// A picture that will be drawn of a run.
#[derive(Debug)]
pub(crate) struct Plan {
    path: PathBuf,
    form: Form,
    /// Each with the series of its deviation, if that is drawn as its band.
    subjects: Vec<(Subject, Option<Quantity>)>,
    theme: Theme,
    size: Option<[u32; 2]>,
    title: String,
    has_worlds: bool,
    has_steps: bool,
}

impl Plan {
    /// Draws a run: into the file, or as text for the terminal.
    ///
    /// # Errors
    /// Why the file cannot be written.
    pub(crate) fn draw(&self, run: &Run) -> Result<Drawn, Failure> {
        let mut panels = Vec::new();
        for (subject, spread) in &self.subjects {
            panels.extend(panels_of(run, subject, spread.as_ref())?);
        }
        self.put(&self.page(panels, self.subtitle(run)))
    }

    /// Draws a sweep: into the file, or as text for the terminal.
    ///
    /// # Errors
    /// Why the file cannot be written.
    pub(crate) fn draw_sweep(&self, swept: &Swept<'_>) -> Result<Drawn, Failure> {
        let mut panels = Vec::new();
        for (subject, spread) in &self.subjects {
            panels.extend(swept::panels(swept, subject));
            // A sweep has bands of its own, so that a deviation is a series like any other.
            let spread = spread.clone().map(Subject::Alone);
            panels.extend(spread.iter().flat_map(|it| swept::panels(swept, it)));
        }
        self.put(&self.page(panels, swept.subtitle.clone()))
    }

    /// Refuses what is drawn of one run only.
    ///
    /// # Errors
    /// That something is.
    pub(crate) fn check_sweep(&self) -> Result<(), Failure> {
        let is_series = |it: &Quantity| matches!(it.source, Source::Series { .. });
        let several = |subject: &Subject| match subject {
            Subject::Alone(_) => false,
            Subject::Pair(pair) => is_series(&pair[0]),
            Subject::Together(_) => true,
        };
        match self.subjects.iter().any(|(subject, _)| several(subject)) {
            true => Err(usage::refused(
                "`--show` draws several series together only of one run, and a sweep has many",
                "name each of them by itself; a sweep draws a curve of it for each point",
            )),
            false => Ok(()),
        }
    }

    /// Are series drawn?
    pub(crate) fn has_series(&self) -> bool {
        let is_series = |(subject, _): &(Subject, _)| match subject {
            Subject::Alone(quantity) => matches!(quantity.source, Source::Series { .. }),
            Subject::Pair(_) | Subject::Together(_) => false,
        };
        self.subjects.iter().any(is_series)
    }

    /// Writes a page into the file, or as text for the terminal.
    fn put(&self, page: &Page) -> Result<Drawn, Failure> {
        if self.form == Form::Terminal {
            let screen = screen::Screen::of_standard_output();
            return Ok(Drawn::Text(format!("\n{}", screen::text(page, screen))));
        }
        let drawing = page::drawing(page, self.theme, self.size);
        let bytes = match self.form {
            Form::Png => {
                let letters = page
                    .panels
                    .iter()
                    .flat_map(|it| [&it.title, &it.x.label, &it.y.label]);
                let texts = letters.chain([&page.title]);
                if let Some(letter) = texts.map(String::as_str).find_map(font::missing) {
                    terminal::note(format!(
                        "the picture has no letter `{letter}`, which its font lacks; a .svg has it\n"
                    ));
                }
                png::png(&drawing).map_err(|why| {
                    let error = std::io::Error::other(why);
                    problem::unwritable(&self.path, &error)
                })?
            }
            Form::Svg | Form::Terminal => svg::svg(&drawing).into_bytes(),
        };
        output::replace(&self.path, |out| out.write_all(&bytes))?;
        Ok(Drawn::File(Written {
            path: self.path.clone(),
            what: ", a plot",
        }))
    }

    fn page(&self, mut panels: Vec<Panel>, mut subtitle: String) -> Page {
        let count = panels.len();
        if count > MOST_PANELS && self.form != Form::Terminal {
            panels.truncate(MOST_PANELS);
            let first = format!("the first {MOST_PANELS} of {count} plots");
            terminal::note(format!("{first} are drawn; `--show` draws others\n"));
            subtitle = format!("{subtitle} · {first}");
        }
        Page {
            title: self.title.clone(),
            subtitle,
            panels,
        }
    }

    /// Of what run it is.
    fn subtitle(&self, run: &Run) -> String {
        let report = run.report();
        let counted = |count: u32, what: &str| {
            let plural = if count == 1 { "" } else { "s" };
            format!("{} {what}{plural}", separated(&count.to_string()))
        };
        let mut parts = vec![counted(report.agents, "agent")];
        if self.has_worlds {
            parts.push(counted(report.worlds, "world"));
        }
        if self.has_steps {
            parts.push(counted(report.steps, "step"));
        }
        parts.push(format!("seed {}", report.seed));
        parts.join(" · ")
    }
}

fn panels_of(
    run: &Run,
    subject: &Subject,
    spread: Option<&Quantity>,
) -> Result<Vec<Panel>, Failure> {
    let is_series = |quantity: &Quantity| matches!(quantity.source, Source::Series { .. });
    Ok(match subject {
        Subject::Alone(quantity) if is_series(quantity) => series::panels(run, quantity, spread),
        Subject::Alone(quantity) => outputs::panels(run, quantity)?,
        Subject::Pair(pair) if is_series(&pair[0]) => vec![series::pair(run, pair)],
        Subject::Pair(pair) => vec![outputs::pair(run, pair)?],
        Subject::Together(quantities) => vec![series::together(run, quantities)],
    })
}

/// Takes the deviations out of what is drawn that are the bands of means: `x_sd` beside `x_mean` or `x`. Says
/// for each subject that is left which one is its band.
fn with_deviations(subjects: &mut Vec<Subject>) -> Vec<Option<Quantity>> {
    let of_fold = |subject: &Subject, wanted: &SeriesFold| match subject {
        Subject::Alone(quantity) => {
            let Source::Series { fold, .. } = &quantity.source else {
                return None;
            };
            let is_wanted = fold.as_ref() == Some(wanted) && quantity.width() == 1;
            is_wanted.then(|| quantity.clone())
        }
        Subject::Pair(_) | Subject::Together(_) => None,
    };
    let deviations: Vec<Quantity> = subjects
        .iter()
        .filter_map(|it| of_fold(it, &SeriesFold::Sd))
        .collect();
    let mut taken = Vec::new();
    let mut found = Vec::new();
    for subject in subjects.iter() {
        let mean = of_fold(subject, &SeriesFold::Mean);
        let spread = mean.and_then(|mean| {
            let own = stem(&mean.field.name);
            deviations
                .iter()
                .find(|sd| stem(&sd.field.name) == own)
                .cloned()
        });
        taken.extend(spread.iter().map(|sd| sd.field.name.clone()));
        found.push(spread);
    }
    let is_kept = |subject: &Subject| {
        let sd = of_fold(subject, &SeriesFold::Sd);
        sd.is_none_or(|sd| !taken.contains(&sd.field.name))
    };
    let kept: Vec<bool> = subjects.iter().map(is_kept).collect();
    let mut at = kept.iter();
    subjects.retain(|_| *at.next().unwrap_or(&true));
    let left = found.into_iter().zip(kept).filter(|(_, kept)| *kept);
    left.map(|(spread, _)| spread).collect()
}

/// A name without the words that say how it was combined.
fn stem(name: &str) -> String {
    const WORDS: [&str; 6] = ["mean", "average", "sd", "std", "stdev", "deviation"];
    let words = name.split('_').filter(|word| !WORDS.contains(word));
    words.collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_numbers_in_bounds() {
        assert_eq!(size("1200x800"), Ok([1200, 800]));
        for wrong in [
            "1200", "1200x", "x800", "-5x800", "0x0", "4001x800", "1e3x800",
        ] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_deviation_is_found_by_its_name() {
        assert_eq!(stem("price_sd"), stem("mean_price"));
        assert_eq!(stem("price"), stem("price_sd"));
        assert_ne!(stem("price_sd"), stem("wage"));
    }
}
