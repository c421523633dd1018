//! Results in files: the same bits in every form, whole or not at all, and runs that are repeated by what is
//! said beside them.

use crate::{Place, Said};
use arrow_array::{
    Array, BooleanArray, DictionaryArray, Float32Array, Int32Array, RecordBatch, StringArray,
    UInt32Array, types::Int32Type,
};
use arrow_ipc::reader::FileReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::{
    collections::BTreeMap,
    fs::File,
    io::{Cursor, Read},
    process::Command,
};

/// All types, shapes and tables; NaN, infinities, and two series that are sampled at different steps.
const ALL: &str = "
agents 6
world 3
steps 4
enum Kind { Red, Blue }
state x = normal()
state n = 0
step {
    x += normal()
    n += 1
}
world state sum = 0.0
world step {
    sum += 1.0
}
observe m = mean(x) every 2
observe q = quantiles(x, 0.1, 0.9) every 3
world observe top = max(x) every 2
record x every 2
record n every 4
output f = if agent == 0 { (x - x) / (x - x) } else if agent == 1 { INFINITY }
    else if agent == 2 { -INFINITY } else if agent == 3 { -0.0 } else { x }
output i = -n
output u = 4294967295u
output b = x > 0.0
output k = if x > 0.0 { Blue } else { Red }
output p = vec2(x, 0.1)
output w = [[x, 1.0], [2.0, 0.3]]
world output sum = sum
";

const RUN: [&str; 4] = ["run", "all.sim", "--backend", "cpu"];

fn place() -> Place {
    let place = Place::new();
    place.write("all.sim", ALL);
    place
}

fn write(place: &Place, args: &[&str]) -> Said {
    place.good(&[&RUN[..], args].concat())
}

/// The columns of a file: of each value the bits, or none.
type Columns = BTreeMap<String, Vec<Option<u32>>>;

fn columns(batches: impl IntoIterator<Item = RecordBatch>) -> Columns {
    let mut found = Columns::new();
    for batch in batches {
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let values = found.entry(field.name().clone()).or_default();
            values
                .extend((0..column.len()).map(|at| column.is_valid(at).then(|| word(column, at))));
        }
    }
    found
}

fn word(column: &dyn Array, at: usize) -> u32 {
    let any = column.as_any();
    if let Some(values) = any.downcast_ref::<Float32Array>() {
        values.value(at).to_bits()
    } else if let Some(values) = any.downcast_ref::<Int32Array>() {
        values.value(at) as u32
    } else if let Some(values) = any.downcast_ref::<UInt32Array>() {
        values.value(at)
    } else if let Some(values) = any.downcast_ref::<BooleanArray>() {
        values.value(at).into()
    } else {
        let values = any.downcast_ref::<DictionaryArray<Int32Type>>();
        let values = values.expect("one of the types that are written");
        let names = values.values().as_any().downcast_ref::<StringArray>();
        let name = names.expect("text").value(values.keys().value(at) as usize);
        ["Red", "Blue"]
            .iter()
            .position(|known| *known == name)
            .expect("a variant") as u32
    }
}

/// What a Parquet file holds, and its key-value metadata.
pub(crate) fn parquet_batches(
    place: &Place,
    name: &str,
) -> (Vec<RecordBatch>, BTreeMap<String, String>) {
    let file = File::open(place.path(name)).expect("it was written");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("it is Parquet");
    let words = reader.metadata().file_metadata().key_value_metadata();
    let words = words.into_iter().flatten();
    let words = words.map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default()));
    let words = words.collect();
    let batches = reader.build().expect("it can be read");
    let batches = batches.map(|batch| batch.expect("it is whole"));
    (batches.collect(), words)
}

/// What an Arrow file holds, and the metadata of its schema.
pub(crate) fn arrow_batches(
    place: &Place,
    name: &str,
) -> (Vec<RecordBatch>, BTreeMap<String, String>) {
    let file = File::open(place.path(name)).expect("it was written");
    let reader = FileReader::try_new(file, None).expect("it is Arrow");
    let words = reader.schema().metadata().clone().into_iter().collect();
    let batches = reader.map(|batch| batch.expect("it is whole"));
    (batches.collect(), words)
}

fn parquet(place: &Place, name: &str) -> (Columns, BTreeMap<String, String>) {
    let (batches, words) = parquet_batches(place, name);
    (columns(batches), words)
}

fn arrow(place: &Place, name: &str) -> (Columns, BTreeMap<String, String>) {
    let (batches, words) = arrow_batches(place, name);
    (columns(batches), words)
}

/// The values of an NPY file, as bits; one byte each for truths.
fn npy(bytes: &[u8]) -> Vec<Option<u32>> {
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8_lossy(&bytes[10..start]).into_owned();
    let values = &bytes[start..];
    match header.contains("|b1") {
        true => values.iter().map(|&value| Some(value.into())).collect(),
        false => (values.chunks_exact(4))
            .map(|word| Some(u32::from_le_bytes(word.try_into().expect("4 bytes"))))
            .collect(),
    }
}

/// Every `width`th value from `at` on.
fn every(all: &[Option<u32>], at: usize, width: usize) -> Vec<Option<u32>> {
    all.iter().skip(at).step_by(width).copied().collect()
}

#[test]
fn all_forms_have_the_same_bits() {
    let place = place();
    write(&place, &["-o", "run.npy"]);
    write(&place, &["-o", "columns/"]);
    write(&place, &["-o", "arrow/", "--format", "arrow"]);
    let array = |name: &str| npy(&place.read(&format!("run.{name}.npy")));
    let floats = array("f");
    assert!(floats[0].is_some_and(|bits| f32::from_bits(bits).is_nan()));
    let rest = [f32::INFINITY, f32::NEG_INFINITY, -0.0].map(|float| Some(float.to_bits()));
    assert_eq!(floats[1..4], rest);
    type Read = fn(&Place, &str) -> (Columns, BTreeMap<String, String>);
    for (folder, ending, read) in [
        ("columns", "parquet", parquet as Read),
        ("arrow", "arrow", arrow),
    ] {
        let table = |name: &str| read(&place, &format!("{folder}/{name}.{ending}"));
        let (outputs, words) = table("outputs");
        for name in ["f", "i", "u", "b", "k"] {
            assert_eq!(outputs[name], array(name), "{ending} {name}");
        }
        for (at, name) in ["p.x", "p.y"].into_iter().enumerate() {
            assert_eq!(outputs[name], every(&array("p"), at, 2), "{ending} {name}");
        }
        for (at, name) in ["w[0][0]", "w[0][1]", "w[1][0]", "w[1][1]"]
            .into_iter()
            .enumerate()
        {
            assert_eq!(outputs[name], every(&array("w"), at, 4), "{ending} {name}");
        }
        assert_eq!(table("world").0["sum"], array("sum"));
        assert_eq!(table("world.observe").0["top"], array("world.observe.top"));
        let observed = table("observe").0;
        let steps = |steps: &[u32]| steps.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(observed["step"], steps(&[0, 2, 3, 4]));
        let means = array("observe.m");
        assert_eq!(observed["m"], [means[0], means[1], None, means[2]]);
        let quantiles = every(&array("observe.q"), 1, 2);
        assert_eq!(observed["q[1]"], [quantiles[0], None, quantiles[1], None]);
        let recorded = table("record").0;
        assert_eq!(recorded["x"], array("record.x"));
        let counts = array("record.n");
        assert_eq!(
            recorded["n"],
            [&counts[..6], &[None; 6], &counts[6..]].concat()
        );
        assert_eq!(recorded["agent"], steps(&[0, 1, 2, 3, 4, 5].repeat(3)));
        assert_eq!(words["sim.seed"], "0");
        assert_eq!(words["sim.backend"], "cpu");
    }
}

#[test]
fn an_archive_holds_the_same_arrays() {
    let place = place();
    write(&place, &["-o", "run.npy"]);
    write(&place, &["-o", "all.npz"]);
    let mut archive = zip::ZipArchive::new(Cursor::new(place.read("all.npz"))).expect("a ZIP file");
    for name in [
        "f",
        "w",
        "sum",
        "observe.q",
        "world.observe.top",
        "record.x",
    ] {
        let mut bytes = Vec::new();
        let mut entry = archive
            .by_name(&format!("{name}.npy"))
            .expect("it is in it");
        entry
            .read_to_end(&mut bytes)
            .expect("its checksum is right");
        assert_eq!(bytes, place.read(&format!("run.{name}.npy")), "{name}");
    }
    let mut steps = Vec::new();
    let mut entry = archive.by_name("record.n.steps.npy").expect("it is in it");
    entry
        .read_to_end(&mut steps)
        .expect("its checksum is right");
    assert_eq!(npy(&steps), [Some(0), Some(4)]);
}

#[test]
fn what_is_there_stays_unless_it_is_to_be_replaced() {
    let place = place();
    // Not the file that was named, but one beside it.
    place.write("run.record.csv", "old\n");
    let said = place.simc(&[&RUN[..], &["-o", "run.csv"]].concat());
    assert_eq!((said.code, said.out.as_str()), (1, ""), "it did not run");
    assert!(
        said.err.contains("`run.record.csv` is there already"),
        "{}",
        said.err
    );
    assert_eq!(place.names(), ["all.sim", "run.record.csv"]);
    assert_eq!(place.text("run.record.csv"), "old\n");
    let said = write(&place, &["-o", "run.csv", "--force", "--json"]);
    assert!(place.text("run.record.csv").starts_with("step,agent,x,n\n"));
    let report: serde_json::Value = serde_json::from_str(&said.out).expect("it is JSON");
    let written = [
        "run.csv",
        "run.world.csv",
        "run.observe.csv",
        "run.world.observe.csv",
        "run.record.csv",
        "run.meta.json",
    ];
    assert_eq!(report["written"], serde_json::json!(written));
}

#[test]
fn a_directory_gets_a_file_of_each_table() {
    let place = place();
    write(&place, &["-o", "new/"]);
    let mut names: Vec<String> = (std::fs::read_dir(place.path("new")).expect("it was made"))
        .map(|entry| entry.expect("it can be read").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    let expected = [
        "meta.json",
        "observe.parquet",
        "outputs.parquet",
        "record.parquet",
        "world.observe.parquet",
        "world.parquet",
    ];
    assert_eq!(names, expected);
    let said = place.simc(&[&RUN[..], &["-o", "new", "--format", "csv"]].concat());
    assert_eq!(said.code, 1, "the metadata is there");
    write(&place, &["-o", "new", "--format", "csv", "--force"]);
    assert!(place.text("new/outputs.csv").starts_with("f,i,u,b,k,p.x,"));
    write(&place, &["-o", "one/", "--format", "json"]);
    assert!(place.path("one/results.json").is_file() && place.path("one/meta.json").is_file());
    let said = place.simc(&[&RUN[..], &["-o", "no/such/"]].concat());
    assert!(said.err.starts_with("[E0914]"), "{}", said.err);
}

#[test]
fn standard_output_takes_json() {
    let place = place();
    let said = write(&place, &["-o", "-", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!(found["f"][1], "inf");
    assert_eq!(found["observe"]["m"]["steps"], serde_json::json!([0, 2, 4]));
    assert_eq!(place.names(), ["all.sim"], "no metadata");
}

/// A limit on the size of files stands for a disk that becomes full: the outputs fit, the record does not.
#[cfg(unix)]
#[test]
fn where_one_file_does_not_fit_none_is_written() {
    let place = Place::new();
    let model = "agents 2000\nsteps 40\nstate x = normal()\nstep { x += normal() }\n\
                 record x\noutput x\n";
    place.write("large.sim", model);
    for output in [
        "run.csv",
        "run.parquet",
        "run.arrow",
        "run.npz",
        "run.json",
        "new/",
    ] {
        let shell = format!(
            "trap '' XFSZ; ulimit -f 100; exec \"$0\" run large.sim --backend cpu --no-cache -o {output}"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &shell, env!("CARGO_BIN_EXE_simc")]);
        let said = Said::from(
            command
                .current_dir(&place.0)
                .output()
                .expect("sh can be started"),
        );
        assert_eq!(said.code, 1, "{output}: {}", said.err);
        assert!(said.err.starts_with("[E0915]"), "{output}: {}", said.err);
        assert!(
            said.err.contains("file too large"),
            "{output}: {}",
            said.err
        );
        assert!(
            said.out.contains("seed"),
            "{output}: the summary is printed"
        );
        assert_eq!(place.names(), ["large.sim"], "{output}");
    }
}

/// Compares a file with one that was written in batches of 7 agents.
fn have_same_values(place: &Place, form: &str, [one, other]: [String; 2]) {
    match form {
        "parquet" => {
            let (in_batches, about) = parquet(place, &other);
            assert_eq!(parquet(place, &one).0, in_batches, "{one}");
            assert_eq!(about["sim.batch"], "7");
        }
        "arrow" => assert_eq!(arrow(place, &one).0, arrow(place, &other).0, "{one}"),
        _ => {
            let read = |name| std::fs::read(place.path(name)).expect("it is there");
            assert_eq!(read(&one), read(&other), "{one}");
        }
    }
}

#[test]
fn batches_write_the_files_of_all_agents() {
    let place = place();
    // All types and worlds, but no series.
    let is_series = |line: &&str| {
        let starts = ["observe ", "world observe ", "record "];
        !starts.iter().any(|start| line.starts_with(start))
    };
    let model: Vec<&str> = ALL.lines().filter(is_series).collect();
    place.write("plain.sim", model.join("\n"));
    let run = |args: &str| {
        let args = format!("run plain.sim --backend cpu --agents 60 -q {args}");
        place.good(&args.split(' ').collect::<Vec<_>>())
    };
    for form in ["csv", "parquet", "arrow", "npy"] {
        run(&format!("--output whole-{form}/ --format {form}"));
        // Seven agents are two worlds of three.
        run(&format!("--output parts-{form}/ --format {form} --batch 7"));
        let names = |directory: &str| -> Vec<String> {
            let mut all: Vec<_> = std::fs::read_dir(place.path(directory))
                .expect("it was made")
                .map(|entry| {
                    entry
                        .expect("it is readable")
                        .file_name()
                        .into_string()
                        .expect("text")
                })
                .filter(|name| name != "meta.json")
                .collect();
            all.sort();
            all
        };
        let [whole, parts] = ["whole", "parts"].map(|it| format!("{it}-{form}"));
        assert_eq!(names(&whole), names(&parts));
        assert!(names(&whole).len() > 1);
        for name in names(&whole) {
            have_same_values(
                &place,
                form,
                [&whole, &parts].map(|it| format!("{it}/{name}")),
            );
        }
        let said = place.good(&["rerun", &format!("{parts}/meta.json")]);
        assert!(
            said.out.ends_with("all results are the same, to the bit\n"),
            "{}",
            said.out
        );
    }
    let said = [run("--output -"), run("--output - --batch 9")].map(|said| said.out);
    assert_eq!(said[0], said[1]);
    assert_eq!(said[0].lines().count(), 61);
    // A model that samples needs all agents at once.
    let said = place.simc(&[&RUN[..], &["--batch", "3", "-o", "x.csv"]].concat());
    assert!(said.err.starts_with("[E0726]"), "{}", said.err);
    assert_eq!(said.code, 1);
}

#[test]
fn a_run_is_repeated_by_its_metadata() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("study/results")).expect("it can be made");
    let model = "agents 8\nsteps 3\nparam s = 0.5\ndata t: [f32]\nstate x = t[0]\n\
                 step { x += s * normal() }\nobserve m = mean(x)\noutput x\n";
    place
        .write("study/walk.sim", model)
        .write("study/t.csv", "t\n2.5\n");
    let args =
        "run walk.sim --backend cpu --data t=t.csv --param s=0.25 --seed 7 -q -o results/a.parquet";
    let mut first = place.command(&args.split(' ').collect::<Vec<_>>());
    let first = Said::from(
        first
            .current_dir(place.path("study"))
            .output()
            .expect("it starts"),
    );
    assert_eq!(first.code, 0, "{}", first.err);
    let metadata: serde_json::Value =
        serde_json::from_str(&place.text("study/results/a.meta.json")).expect("it is JSON");
    assert_eq!(metadata["directory"]["relative"], "..");
    assert_eq!(metadata["params"]["s"], 0.25);
    assert_eq!(
        (&metadata["seed"], &metadata["agents"]),
        (&7.into(), &8.into())
    );
    assert_eq!(metadata["data"][0]["path"], "t.csv");
    // The whole folder may be moved.
    std::fs::rename(place.path("study"), place.path("moved")).expect("it can be moved");
    let rerun = ["rerun", "moved/results/a.meta.json"];
    let said = place.good(&rerun);
    assert!(
        said.out.starts_with("model, data, values, simc"),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("observe m       4  same\n"),
        "{}",
        said.out
    );
    assert_eq!(
        std::fs::read_dir(place.path("moved/results"))
            .map(Iterator::count)
            .ok(),
        Some(3)
    );
    // Other data: the first difference is said, and the exit code is 1.
    place.write("moved/t.csv", "t\n2.25\n");
    let said = place.simc(&rerun);
    assert_eq!(said.code, 1);
    assert!(said.out.starts_with("t (t.csv): "), "{}", said.out);
    assert!(said.err.starts_with("[E0926]"), "{}", said.err);
    let said = place.simc(&[&rerun[..], &["--json"]].concat());
    let found: serde_json::Value = serde_json::from_str(&said.out).expect("it is JSON");
    assert_eq!((said.code, &found["same"]), (1, &false.into()));
    assert_eq!(found["columns"][0]["same"], false);
}

#[test]
fn only_what_differs_is_told_apart() {
    let place = Place::new();
    place.write("two.sim", "agents 4\noutput a = agent\noutput b = 1.0\n");
    place.good(&["run", "two.sim", "--backend", "cpu", "-o", "two.csv"]);
    place.write("two.sim", "agents 4\noutput a = agent\noutput b = 1.5\n");
    let said = place.simc(&["rerun", "two.meta.json"]);
    assert_eq!(said.code, 1);
    assert!(
        said.out.contains("a            4     same\n"),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("b            4  differs\n"),
        "{}",
        said.out
    );
    assert!(said.err.contains("1 of 2 columns differs"), "{}", said.err);
}
