//! The tables of a sweep in files: the same values in every form, what is said beside them, and sweeps that
//! are repeated or interrupted.

use crate::{
    Place,
    results::{arrow_batches, parquet_batches},
};
use arrow_array::{
    Array, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray, UInt32Array, types::Int32Type,
};
use std::{
    collections::BTreeMap,
    io::{Cursor, Read},
};

/// Params of all types; a mean that is NaN at no point, an extreme that is infinite at some.
const MODEL: &str = "
agents 50
steps 4
enum Kind { Red, Blue }
param drift = 0.5 in -1.0..1.0
param turns: i32 = 2
param level: u32 = 7u
param on = true
param kind: Kind = Red
param w = [0.1, 0.2, 0.3]
state x = 0.0
step { x += drift + 0.1 * normal() * w[1] + f32(turns) }
output x
output wide = if agent == 0 && kind == Blue { INFINITY } else { f32(level) }
output up = on
";

const RUN: [&str; 4] = ["run", "model.sim", "--backend", "cpu"];

/// Six points, of which two are outside of a range.
const SWEEP: [&str; 6] = [
    "--sweep",
    "drift=-0.5,2,0.25",
    "--sweep",
    "kind=Blue,Red",
    "--covariance",
    "x,wide",
];

fn place() -> Place {
    let place = Place::new();
    place.write("model.sim", MODEL);
    place
}

/// A table: the texts of its cells by column, as CSV has them.
type Columns = BTreeMap<String, Vec<String>>;

fn csv(text: &str) -> Columns {
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let head: Vec<String> = lines.next().expect("it has a header").collect();
    // The one name with a comma has quotes.
    let head = head.join(",").replace("\"cov(x,wide)\"", "cov(x;wide)");
    let mut found: Vec<(String, Vec<String>)> = head
        .split(',')
        .map(|name| (name.replace(';', ","), Vec::new()))
        .collect();
    for line in lines {
        for ((_, cells), cell) in found.iter_mut().zip(line) {
            cells.push(cell);
        }
    }
    found.into_iter().collect()
}

fn text(column: &dyn Array, at: usize) -> String {
    if column.is_null(at) {
        return String::new();
    }
    let any = column.as_any();
    if let Some(values) = any.downcast_ref::<Float32Array>() {
        values.value(at).to_string()
    } else if let Some(values) = any.downcast_ref::<Float64Array>() {
        values.value(at).to_string()
    } else if let Some(values) = any.downcast_ref::<Int32Array>() {
        values.value(at).to_string()
    } else if let Some(values) = any.downcast_ref::<UInt32Array>() {
        values.value(at).to_string()
    } else if let Some(values) = any.downcast_ref::<Int64Array>() {
        values.value(at).to_string()
    } else if let Some(values) = any.downcast_ref::<BooleanArray>() {
        values.value(at).to_string()
    } else if let Some(values) = any.downcast_ref::<StringArray>() {
        values.value(at).to_owned()
    } else {
        let values = any.downcast_ref::<DictionaryArray<Int32Type>>();
        let values = values.expect("one of the types that are written");
        let names = values.values().as_any().downcast_ref::<StringArray>();
        let name = names.expect("text").value(values.keys().value(at) as usize);
        name.to_owned()
    }
}

fn columns(batches: impl IntoIterator<Item = RecordBatch>) -> Columns {
    let mut found = Columns::new();
    for batch in batches {
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let cells = found.entry(field.name().clone()).or_default();
            cells.extend((0..column.len()).map(|at| text(column, at)));
        }
    }
    found
}

fn parquet(place: &Place, name: &str) -> (Columns, BTreeMap<String, String>) {
    let (batches, words) = parquet_batches(place, name);
    (columns(batches), words)
}

fn arrow(place: &Place, name: &str) -> (Columns, BTreeMap<String, String>) {
    let (batches, words) = arrow_batches(place, name);
    (columns(batches), words)
}

/// An array of an archive as texts.
fn npy(bytes: &[u8]) -> Vec<String> {
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[10..start]).into_owned();
    let values = &bytes[start..];
    let descr = header.split('\'').nth(3).expect("it names its type");
    fn of<const N: usize>(values: &[u8], text: fn([u8; N]) -> String) -> Vec<String> {
        let each = values.chunks_exact(N);
        each.map(|value| text(value.try_into().expect("as long")))
            .collect()
    }
    match descr {
        "<f4" => of(values, |value| f32::from_le_bytes(value).to_string()),
        "<f8" => of(values, |value| f64::from_le_bytes(value).to_string()),
        "<i4" => of(values, |value| i32::from_le_bytes(value).to_string()),
        "<u4" => of(values, |value| u32::from_le_bytes(value).to_string()),
        "<i8" => of(values, |value| i64::from_le_bytes(value).to_string()),
        "|b1" => of(values, |[value]| (value != 0).to_string()),
        text => {
            let letters: usize = text
                .trim_start_matches("<U")
                .parse()
                .expect("a text's length");
            let letter = |word: &[u8]| {
                let word = u32::from_le_bytes(word.try_into().expect("four bytes"));
                char::from_u32(word).filter(|letter| *letter != '\0')
            };
            let each = values.chunks_exact(4 * letters);
            each.map(|text| text.chunks_exact(4).filter_map(letter).collect())
                .collect()
        }
    }
}

fn npz(place: &Place, name: &str) -> Columns {
    let mut archive = zip::ZipArchive::new(Cursor::new(place.read(name))).expect("a ZIP file");
    let mut found = Columns::new();
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).expect("it is there");
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("it can be read");
        let name = entry.name().expect("it is text").into_owned();
        found.insert(name.trim_end_matches(".npy").to_owned(), npy(&bytes));
    }
    found
}

#[test]
fn all_forms_have_the_values_of_the_csv() {
    let place = place();
    let write = |args: &[&str]| {
        let said = place.simc(&[&RUN[..], &SWEEP, args].concat());
        assert!(
            said.code == 1 && said.err.contains("E0973"),
            "{args:?}: {}",
            said.err
        );
        said
    };
    for file in ["t.csv", "t.parquet", "t.feather", "t.npz", "t.json"] {
        let said = write(&["-o", file, "--force"]);
        assert!(said.out.contains(&format!("written     {file}\n")));
    }
    write(&["-o", "dir/"]);
    let table = csv(&place.text("t.csv"));
    assert_eq!(table["point"].len(), 6);
    let expected = ["Blue", "Red", "Blue", "Red", "Blue", "Red"];
    assert_eq!(table["kind"], expected);
    assert_eq!(table["wide.max"], ["inf", "7", "", "", "inf", "7"]);
    assert_eq!(table["x.count"], ["50", "50", "", "", "50", "50"]);
    assert_eq!(table["up.mean"][0], "1");
    assert!(table["error"][2].contains("drift = 2 is not in"));
    let (found, words) = parquet(&place, "t.parquet");
    assert_eq!(found, table);
    let expected = r#"{"level":7,"on":true,"turns":2,"w":[0.1,0.2,0.3]}"#;
    assert_eq!(words["sim.params"], expected);
    assert!(words["sim.sweep"].contains(r#""values":["Blue","Red"]"#));
    let (same, same_words) = arrow(&place, "t.feather");
    assert_eq!(same, table);
    assert_eq!(same_words["sim.sweep"], words["sim.sweep"]);
    assert_eq!(parquet(&place, "dir/points.parquet").0, table);
    // NumPy has no empty cells, and knows variants by number.
    let arrays = npz(&place, "t.npz");
    assert_eq!(arrays.len(), table.len());
    for (name, cells) in &table {
        let expected: Vec<String> = (cells.iter())
            .map(|cell| match (name.as_str(), cell.as_str()) {
                ("kind", "Blue") => "1".to_owned(),
                ("kind", "Red") | ("x.count" | "wide.count" | "up.count", "") => "0".to_owned(),
                ("x.nan" | "wide.nan" | "up.nan", "") => "0".to_owned(),
                ("error", text) => text.to_owned(),
                (_, "") => "NaN".to_owned(),
                (_, text) => text.to_owned(),
            })
            .collect();
        assert_eq!(arrays[name], expected, "{name}");
    }
    let json: serde_json::Value = serde_json::from_str(&place.text("t.json")).expect("JSON");
    assert_eq!(json["points"].as_array().map(Vec::len), Some(6));
    assert_eq!(json["points"][0]["wide.max"], "inf");
    assert!(json["points"][2]["x.mean"].is_null());
    assert_eq!(json["points"][3]["kind"], "Red");
}

#[test]
fn types_are_those_of_the_model() {
    let place = place();
    let axes = "turns=-1,2 level=4000000000,1 on=false,true drift=0.1,0.3 w[2]=1.5,2";
    let axes = axes.split(' ').flat_map(|axis| ["--sweep", axis]);
    let args: Vec<&str> = RUN.into_iter().chain(axes).collect();
    place.good(&[&args[..], &["-o", "t.parquet"]].concat());
    place.good(&[&args[..], &["-o", "t.csv", "--force"]].concat());
    let (found, words) = parquet(&place, "t.parquet");
    assert_eq!(found, csv(&place.text("t.csv")));
    assert_eq!(found["point"].len(), 32);
    assert_eq!((&*found["drift"][2], &*found["turns"][0]), ("0.3", "-1"));
    let results: serde_json::Value = serde_json::from_str(&words["sim.results"]).expect("JSON");
    let types: Vec<&str> = (results.as_array().expect("a list").iter())
        .filter_map(|column| column["type"].as_str())
        .take(7)
        .collect();
    assert_eq!(types, ["u32", "i32", "u32", "bool", "f32", "f32", "f64"]);
}

#[test]
fn a_sweep_is_repeated_by_its_metadata() {
    let place = place();
    place.write("points.csv", "drift,w[0],kind\n0.5,1,Red\n-0.5,2,Blue\n");
    let cases: [&[&str]; 4] = [
        &SWEEP,
        &[
            "--sweep-file",
            "points.csv",
            "--repeats",
            "3",
            "--seed",
            "9",
        ],
        &["--sweep-sobol", "8", "--common-draws", "false"],
        &["--sweep", "w[1]=1,2", "--param", "w=3,4,5", "--agents", "9"],
    ];
    for args in cases {
        place.simc(&[&RUN[..], args, &["-o", "t.parquet", "--force"]].concat());
        let before = place.names();
        let said = place.good(&["rerun", "t.meta.json"]);
        assert!(
            said.out.ends_with("all results are the same, to the bit\n")
                && said.out.contains("x.mean"),
            "{args:?}: {}",
            said.out
        );
        assert_eq!(place.names(), before, "it writes no files");
    }
    place.write("model.sim", MODEL.replace("+ f32(turns)", "- f32(turns)"));
    let said = place.simc(&["rerun", "t.meta.json"]);
    assert_eq!(said.code, 1);
    let row = |name: &str| {
        let line = said.out.lines().find(|line| line.starts_with(name));
        line.map(str::to_owned).unwrap_or_default()
    };
    assert!(row("x.mean").ends_with("differs"), "{}", said.out);
    assert!(row("wide.mean").ends_with("same"), "{}", said.out);
    assert!(said.err.starts_with("[E0926]"), "{}", said.err);
}

#[test]
fn what_a_sweep_cannot_write_is_refused_before_it_runs() {
    let place = place();
    place.write("t.meta.json", "mine");
    place.write("points.csv", "drift\n0.5\n");
    let cases: [(&[&str], &str, &str); 6] = [
        (&["-o", "t.npy"], "E0921", "holds one array"),
        (&["-o", "t.xyz"], "E0913", "no known form"),
        (&["-o", "t.csv", "--format", "npz"], "E0921", "another form"),
        (
            &["-o", "-", "--format", "parquet"],
            "E0921",
            "`--format csv`",
        ),
        (&["-o", "-", "--json"], "E0921", "standard output"),
        (&["-o", "t.parquet"], "E0923", "t.meta.json"),
    ];
    for (args, code, part) in cases {
        let said = place.simc(&[&RUN[..], &["--sweep", "drift=0.1,0.2"], args].concat());
        assert!(
            said.code > 0 && said.out.is_empty() && said.err.contains(code),
            "{args:?}: {}",
            said.err
        );
        assert!(said.err.contains(part), "{args:?}: {}", said.err);
    }
    assert_eq!(place.text("t.meta.json"), "mine");
    let text = "drift\n0.5\n0.25\n";
    let args = [&RUN[..], &["--sweep-file", "-", "-o", "u.csv"]].concat();
    assert_eq!(place.piped(&args, text).code, 0);
    let said = place.simc(&["rerun", "u.meta.json"]);
    assert!(said.err.starts_with("[E0925]"), "{}", said.err);
}

/// The last point takes hours.
#[cfg(unix)]
#[test]
fn an_interrupted_sweep_keeps_the_points_that_are_complete() {
    use std::process::{Command, Stdio};
    let place = Place::new();
    let model = "
agents 20_000
steps 2
param turns: i32 = 1
state x = 0.5
step {
    for k in 0..turns { x = 3.9 * x * (1.0 - x) }
}
output x
";
    place.write("long.sim", model);
    let sweep = ["--sweep", "turns=1,2,100000000", "-o", "t.csv"];
    let args = [&["run", "long.sim", "--backend", "cpu"][..], &sweep].concat();
    let child = place
        .command(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("simc can be started");
    std::thread::sleep(std::time::Duration::from_secs(3));
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("kill can be started").success());
    let ended = child.wait_with_output().expect("it can be waited for");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(130), "{said}");
    let expected = "interrupted: 2 of 3 points are complete, and 1 is not";
    assert!(said.contains(expected), "{said}");
    let table = csv(&place.text("t.csv"));
    assert_eq!(table["error"], ["", "", "interrupted"]);
    assert!(!table["x.mean"][1].is_empty() && table["x.mean"][2].is_empty());
    let about = place.text("t.meta.json");
    let about: serde_json::Value = serde_json::from_str(&about).expect("JSON");
    assert_eq!(about["sweep"]["interrupted"], true);
    assert_eq!(about["sweep"]["failed"], 1);
}
