//! The book, `docs/book/src`: what its pages show is what `simc` prints. `SIM_UPDATE=1` rewrites it.
//!
//! A page's blocks of code are taken in order, in a folder of the page's own:
//!
//! * ` ```sim NAME ` is a whole model, written to the file NAME; with `wrong` behind it, one that has a
//!   mistake.
//! * ` ```csv NAME ` is a file of data.
//! * ` ```sh ` has a command a line, for a shell that finds `simc`. All must succeed, or fail if the block
//!   says ` ```sh fails `.
//! * ` ```text ` is what the commands of the block before it print on standard output, and on standard error
//!   where they fail, with an empty line between two. The report of `simc run` ends with a paragraph that
//!   begins with `backend`, about the machine and the time: it is left out.
//!
//! A known answer stands in the text, and below the block that it is for
//! `<!-- holds: COLUMN of ROW = VALUE within TOLERANCE -->` holds the printed tables to it. Without a
//! tolerance it is four of the row's own standard errors, `std err`.
//!
//! That models compile and are in style is held with those of the other pages, in `tests/tests/integration`.

use crate::{Place, repository};
use sim_tests::page;
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

fn source() -> PathBuf {
    repository("docs/book/src")
}

/// The cells of printed tables, by row and column; of equal ones the last.
type Cells = BTreeMap<(String, String), String>;

/// What the commands of a block print, one after the other.
fn printed(place: &Place, commands: &str, fails: bool) -> Result<String, String> {
    let simc = Path::new(env!("CARGO_BIN_EXE_simc"));
    let own = simc.parent().into_iter().map(Path::to_owned);
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(own.chain(env::split_paths(&path))).map_err(|it| it.to_string())?;
    let mut parts = Vec::new();
    for line in commands.lines() {
        let output = Command::new("sh")
            .args(["-c", line])
            .current_dir(&place.0)
            .env("PATH", &path)
            .env("NO_COLOR", "1")
            .env("SIMC_CACHE_DIR", place.path("cache"))
            .output()
            .map_err(|error| error.to_string())?;
        let error = String::from_utf8_lossy(&output.stderr);
        if output.status.success() == fails {
            return Err(format!("`{line}`: {}\n{error}", output.status));
        }
        let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
        if fails {
            said.push_str(&error);
        }
        let said = said.split("\n\nbackend ").next().unwrap_or_default();
        let lines: Vec<&str> = said.trim_end().lines().map(str::trim_end).collect();
        parts.push(lines.join("\n"));
    }
    parts.retain(|part| !part.is_empty());
    Ok(parts.join("\n\n") + "\n")
}

/// Tables begin with a line of titles and end with an empty line; columns are two spaces apart or more.
fn cells(text: &str) -> Cells {
    let mut cells = Cells::new();
    let mut titles = Vec::new();
    for line in text.lines() {
        let parts = line.split("  ").map(str::trim);
        let row: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        match row.first() {
            None => titles.clear(),
            Some(&("output" | "series")) => titles = row,
            Some(name) => {
                let named = titles.iter().zip(&row).skip(1);
                cells.extend(named.map(|(title, cell)| {
                    ((name.to_string(), title.to_string()), cell.to_string())
                }));
            }
        }
    }
    cells
}

/// Holds `COLUMN of ROW = VALUE within TOLERANCE`.
fn hold(claim: &str, cells: &Cells, prose: &str) -> Result<(), String> {
    let number = |text: &str| {
        let plain = text.replace('_', "");
        (plain.parse::<f64>()).map_err(|_| format!("`{text}` in `{claim}` is no number"))
    };
    let (what, value) = claim
        .split_once(" = ")
        .ok_or(format!("no ` = `: {claim}"))?;
    let (column, row) = what
        .split_once(" of ")
        .ok_or(format!("no ` of `: {claim}"))?;
    let (value, tolerance) = match value.split_once(" within ") {
        Some((value, tolerance)) => (value, Some(tolerance)),
        None => (value, None),
    };
    if !prose.contains(value) {
        return Err(format!("{claim}: the page does not say {value}"));
    }
    let cell = |column: &str| {
        let found = cells.get(&(row.to_owned(), column.to_owned()));
        number(found.ok_or(format!("{claim}: no `{column}` of `{row}` is printed"))?)
    };
    let tolerance = match tolerance {
        Some(tolerance) => number(tolerance)?,
        None => 4.0 * cell("std err")?,
    };
    let got = cell(column)?;
    match (got - number(value)?).abs() <= tolerance {
        true => Ok(()),
        false => Err(format!("{claim}: it is {got}, beyond {tolerance:.2e}")),
    }
}

/// Claims in a stretch of a page, held to what was printed before it.
fn hold_all(stretch: &str, cells: &Cells, prose: &str) -> Result<(), String> {
    for claim in stretch.split("<!-- holds: ").skip(1) {
        let claim = claim.split(" -->").next().unwrap_or_default();
        hold(claim, cells, prose)?;
    }
    Ok(())
}

/// The page's text without comments.
fn prose(text: &str) -> String {
    let parts = text.split("<!--").enumerate();
    let outside = parts.map(|(k, part)| match k {
        0 => part,
        _ => part.split_once("-->").map_or("", |(_, rest)| rest),
    });
    outside.collect()
}

/// The page as it should be.
fn rewritten(text: &str) -> Result<String, String> {
    let place = Place::new();
    let prose = prose(text);
    let mut page = String::new();
    let mut at = 0;
    let mut said = None;
    let mut table = Cells::new();
    for block in page::blocks(text) {
        hold_all(&text[at..block.start], &table, &prose)?;
        page.push_str(&text[at..block.start]);
        at = block.start + block.text.len();
        let mut shown = block.text.to_owned();
        match block.info.as_slice() {
            ["sim" | "csv", name, ..] => {
                place.write(name, block.text);
            }
            ["sh", rest @ ..] => {
                said = Some(printed(&place, block.text, rest.contains(&"fails"))?);
            }
            ["text"] => {
                shown = said.take().ok_or("a block of text belongs to no command")?;
                table = cells(&shown);
            }
            other => return Err(format!("what is a block of `{other:?}`?")),
        }
        page.push_str(&shown);
    }
    hold_all(&text[at..], &table, &prose)?;
    page.push_str(&text[at..]);
    Ok(page)
}

/// Holds a page, or rewrites it.
fn hold_page(path: &Path) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let page = rewritten(&text)?;
    if page == text {
        return Ok(());
    }
    if env::var_os("SIM_UPDATE").is_some() {
        return fs::write(path, page).map_err(|error| error.to_string());
    }
    let pairs = text.lines().zip(page.lines());
    let differs = pairs.enumerate().find(|(_, (old, new))| old != new);
    let (line, (old, new)) = differs.map_or((0, ("", "")), |(k, pair)| (k + 1, pair));
    Err(format!(
        "line {line}: run this test with SIM_UPDATE=1 if the second is right\n  {old}\n  {new}"
    ))
}

#[test]
fn pages_of_the_book_show_what_simc_prints() {
    let pages = page::pages(&source());
    assert!(pages.len() > 15, "only {} pages", pages.len());
    let complaints: Vec<String> = thread::scope(|scope| {
        let held = |path: &PathBuf| hold_page(path).err().map(|it| format!("{path:?}: {it}"));
        let threads: Vec<_> = (pages.iter())
            .map(|path| scope.spawn(move || held(path)))
            .collect();
        let held = threads.into_iter().map(|thread| thread.join());
        held.filter_map(|it| it.expect("a page's thread ends"))
            .collect()
    });
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn claims_are_held() {
    let table = "output  count  mean  std err\nworld a   100     2      0.1\n";
    let cells = cells(table);
    let holds = |claim: &str| hold(claim, &cells, "2.3 2.5 2.001");
    assert_eq!(holds("mean of world a = 2.3"), Ok(()));
    assert_eq!(holds("mean of world a = 2.001 within 0.01"), Ok(()));
    assert!(
        holds("mean of world a = 2.5").is_err(),
        "five standard errors"
    );
    assert!(
        holds("mean of world a = 2.1").is_err(),
        "the page does not say so"
    );
    assert!(holds("mean of b = 2.3").is_err(), "no such row");
}
