//! Tables and inputs from files of columns: Parquet, Arrow, NPZ and the kinds of CSV.

use crate::Place;
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, Decimal128Array, DictionaryArray,
    FixedSizeListArray, Float16Array, Float32Array, Float64Array, Int8Array, Int32Array,
    Int64Array, ListArray, RecordBatch, StringArray, StructArray, TimestampSecondArray,
    UInt16Array, UInt64Array,
    types::{Float16Type, Float32Type, Int8Type},
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};
use std::{io::Write, sync::Arc};

const NAN: &str = "NaN";

type Half = <Float16Type as ArrowPrimitiveType>::Native;

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("columns have the same length")
}

/// A Parquet file of two groups of rows, with the first `cut` rows in the first.
pub(crate) fn parquet(columns: Vec<(&str, ArrayRef)>, cut: usize) -> Vec<u8> {
    let batch = batch(columns);
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None)
        .expect("the schema can be written");
    for part in [
        batch.slice(0, cut),
        batch.slice(cut, batch.num_rows() - cut),
    ] {
        writer.write(&part).expect("memory takes everything");
        writer.flush().expect("memory takes everything");
    }
    writer.close().expect("memory takes everything");
    bytes
}

fn arrow(columns: Vec<(&str, ArrayRef)>, stream: bool) -> Vec<u8> {
    let batch = batch(columns);
    let mut bytes = Vec::new();
    if stream {
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut bytes, &batch.schema())
            .expect("the schema can be written");
        writer.write(&batch).expect("memory takes everything");
        writer.finish().expect("memory takes everything");
    } else {
        let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema())
            .expect("the schema can be written");
        writer.write(&batch).expect("memory takes everything");
        writer.finish().expect("memory takes everything");
    }
    bytes
}

fn prices() -> Vec<(&'static str, ArrayRef)> {
    vec![
        (
            "day",
            Arc::new(TimestampSecondArray::from(vec![0, 86_400, 172_800])) as ArrayRef,
        ),
        ("name", Arc::new(StringArray::from(vec!["a", "b", "c"]))),
        ("open", Arc::new(Float64Array::from(vec![1.5, 2.5, 3.5]))),
        (
            "close",
            Arc::new(Float32Array::from(vec![-0.25, 0.1, 1e20])),
        ),
        (
            "volume",
            Arc::new(Int64Array::from(vec![10, 20, 16_777_216])),
        ),
    ]
}

const TABLE: &str = "
agents 3
data t: [[f32; 3]]
output a = t[agent][0]
output b = t[agent][1]
output c = t[agent][2]
";

/// The outputs of [`TABLE`] with this file, and what was said.
fn table(place: &Place, file: &str, more: &[&str]) -> (String, String) {
    place.write("t.sim", TABLE);
    let data = format!("t={file}");
    let mut args = vec![
        "run",
        "t.sim",
        "--backend",
        "cpu",
        "--force",
        "-o",
        "out.csv",
        "--data",
        &data,
    ];
    args.extend(more);
    let said = place.good(&args);
    (place.text("out.csv"), said.err)
}

/// The complaint about this file.
fn refused(place: &Place, file: &str, more: &[&str]) -> String {
    place.write("t.sim", TABLE);
    let data = format!("t={file}");
    let mut args = vec!["run", "t.sim", "--backend", "cpu", "--data", &data];
    args.extend(more);
    let said = place.simc(&args);
    assert_eq!(
        (said.code, said.out.as_str()),
        (1, ""),
        "{file}: {}",
        said.err
    );
    said.err
}

#[test]
fn each_form_of_columns_gives_the_same_table() {
    let place = Place::new();
    let text = "day,name,open,close,volume\n1970-01-01,a,1.5,-0.25,10\n1970-01-02,b,2.5,0.1,20\n\
                1970-01-03,c,3.5,1e20,16777216\n";
    place
        .write("p.csv", text)
        .write("p.tsv", text.replace(',', "\t"))
        .write("eu.csv", text.replace(',', ";").replace('.', ","))
        .write("p.parquet", parquet(prices(), 2))
        .write("p.arrow", arrow(prices(), false))
        .write("s.feather", arrow(prices(), true))
        .write("at 10:30.csv", text);
    let expected = "a,b,c\n1.5,-0.25,10.0\n2.5,0.1,20.0\n3.5,1e20,16777216.0\n";
    for file in [
        "p.csv",
        "p.tsv",
        "eu.csv",
        "p.parquet",
        "p.arrow",
        "s.feather",
        "at 10:30.csv",
    ] {
        let (found, said) = table(&place, file, &[]);
        assert_eq!(found, expected, "{file}");
        assert!(
            said.contains("left out `day` (dates), `name` (text)"),
            "{file}: {said}"
        );
        let commas = file == "eu.csv";
        assert_eq!(
            said.contains("commas are read as decimal marks"),
            commas,
            "{file}: {said}"
        );
        let (found, said) = table(&place, &format!("{file}:volume,open, open"), &[]);
        assert_eq!(
            found, "a,b,c\n10.0,1.5,1.5\n20.0,2.5,2.5\n16777216.0,3.5,3.5\n",
            "{file}"
        );
        assert!(!said.contains("left out"), "{file}: {said}");
    }
    let said = place.piped(
        &[
            "run",
            "t.sim",
            "--backend",
            "cpu",
            "--force",
            "-o",
            "out.csv",
            "--data",
            "t=-:open,open,close",
        ],
        text,
    );
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(
        place.text("out.csv"),
        "a,b,c\n1.5,1.5,-0.25\n2.5,2.5,0.1\n3.5,3.5,1e20\n"
    );
}

#[test]
fn lists_fill_tables_of_many_columns() {
    let place = Place::new();
    let values: ArrayRef = Arc::new(Float32Array::from_iter_values((0..9).map(|at| at as f32)));
    let item = Arc::new(Field::new_list_field(DataType::Float32, true));
    let fixed: ArrayRef = Arc::new(FixedSizeListArray::new(
        item.clone(),
        3,
        values.clone(),
        None,
    ));
    let lists = |lengths: [usize; 3]| -> ArrayRef {
        let offsets = OffsetBuffer::from_lengths(lengths);
        Arc::new(ListArray::new(item.clone(), offsets, values.clone(), None))
    };
    let name: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let columns = |list: ArrayRef| vec![("name", name.clone()), ("signals", list)];
    place
        .write("fixed.parquet", parquet(columns(fixed.clone()), 1))
        .write("fixed.arrow", arrow(columns(fixed), false))
        .write("open.parquet", parquet(columns(lists([3, 3, 3])), 1))
        .write("ragged.parquet", parquet(columns(lists([3, 2, 4])), 1));
    for file in [
        "fixed.parquet",
        "fixed.arrow",
        "open.parquet",
        "open.parquet:signals",
    ] {
        let (found, _) = table(&place, file, &[]);
        assert_eq!(
            found, "a,b,c\n0.0,1.0,2.0\n3.0,4.0,5.0\n6.0,7.0,8.0\n",
            "{file}"
        );
    }
    let said = refused(&place, "ragged.parquet", &[]);
    assert!(
        said.contains("`a list of 2` in column `signals` has another length"),
        "{said}"
    );
    assert!(said.contains("ragged.parquet, row 1"), "{said}");
}

const TYPES: &str = "
agents 3
enum Kind { Red, Blue }
struct Order { price: f32, size: u32 }
input f: f32 = 0.0
input i: i32 = 0
input b: bool = false
input k: Kind = Red
input p: vec2 = vec2(0.0, 0.0)
input o: Order = Order(0.0, 0u)
output f = f
output i = i
output b = b
output k = k
output p = p
output o = o
";

/// One output of [`TYPES`] with this input.
fn typed(place: &Place, input: &str, more: &[&str]) -> Result<String, String> {
    place.write("types.sim", TYPES);
    let mut args = vec![
        "run",
        "types.sim",
        "--backend",
        "cpu",
        "--force",
        "-o",
        "out.csv",
        "--input",
        input,
    ];
    args.extend(more);
    let said = place.simc(&args);
    if said.code != 0 {
        return Err(said.err);
    }
    let name = input.split('=').next().expect("a name comes first");
    let text = place.text("out.csv");
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().expect("there is a header");
    let wanted = |column: &&str| *column == name || column.starts_with(&format!("{name}."));
    let rows = rows.map(|row| {
        let cells = header.iter().zip(row).filter(|(column, _)| wanted(column));
        cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(" ")
    });
    Ok(rows.collect::<Vec<_>>().join(","))
}

fn nested() -> Vec<(&'static str, ArrayRef)> {
    let field = |name: &str, of| Arc::new(Field::new(name, of, true));
    let size: ArrayRef = Arc::new(UInt64Array::from(vec![1, 2, 3]));
    let price: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 1.5, 2.5]));
    let order = StructArray::from(vec![
        (field("size", DataType::UInt64), size.clone()),
        (field("price", DataType::Float64), price.clone()),
    ]);
    let nulls = Some(NullBuffer::from(vec![true, false, true]));
    let fields = [field("x", DataType::Float64), field("y", DataType::Float64)];
    let places = StructArray::new(fields.to_vec().into(), vec![price.clone(), price], nulls);
    let pair = Arc::new(Field::new_list_field(DataType::Float32, true));
    let points = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(
        (0..3).map(|at| Some(vec![Some(at as f32), Some(0.5)])),
        2,
    );
    let (_, _, points, _) = points.into_parts();
    vec![
        ("o", Arc::new(order) as ArrayRef),
        ("places", Arc::new(places)),
        (
            "p",
            Arc::new(FixedSizeListArray::new(pair, 2, points, None)),
        ),
    ]
}

fn types() -> Vec<(&'static str, ArrayRef)> {
    let names = DictionaryArray::<Int8Type>::from_iter(["Red", "Blue", "Red"]);
    let mut all = vec![
        (
            "i8",
            Arc::new(Int8Array::from(vec![-128, 0, 127])) as ArrayRef,
        ),
        ("u16", Arc::new(UInt16Array::from(vec![0, 1, 65_535]))),
        ("u64", Arc::new(UInt64Array::from(vec![0, 1, 1 << 40]))),
        (
            "i64",
            Arc::new(Int64Array::from(vec![-1, 16_777_216, 16_777_217])),
        ),
        (
            "f16",
            Arc::new(Float16Array::from_iter_values(
                [0.5, -2.0, 0.0].map(Half::from_f32),
            )),
        ),
        (
            "f64",
            Arc::new(Float64Array::from(vec![0.1, f64::NAN, f64::NEG_INFINITY])),
        ),
        ("far", Arc::new(Float64Array::from(vec![0.1, 1e300, 0.0]))),
        (
            "cents",
            Arc::new(
                Decimal128Array::from(vec![110, -225, 1])
                    .with_precision_and_scale(9, 2)
                    .expect("it fits"),
            ),
        ),
        (
            "whole",
            Arc::new(
                Decimal128Array::from(vec![100, -200, 0])
                    .with_precision_and_scale(9, 2)
                    .expect("it fits"),
            ),
        ),
        (
            "truth",
            Arc::new(BooleanArray::from(vec![true, false, true])),
        ),
        ("names", Arc::new(names)),
        (
            "words",
            Arc::new(StringArray::from(vec!["Red", "Green", "Red"])),
        ),
        (
            "gap",
            Arc::new(Float32Array::from(vec![Some(1.0), None, Some(3.0)])),
        ),
        (
            "hole",
            Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])),
        ),
    ];
    all.extend(nested());
    all
}

/// Inputs and their values.
const RIGHT: [(&str, &str); 14] = [
    ("i=FILE:i8", "-128,0,127"),
    ("f=FILE:i8", "-128.0,0.0,127.0"),
    ("i=FILE:u16", "0,1,65535"),
    ("f=FILE:u64", "0.0,1.0,1099511600000.0"),
    ("f=FILE:f16", "0.5,-2.0,0.0"),
    ("f=FILE:f64", "0.1,NaN,-inf"),
    ("f=FILE:cents", "1.1,-2.25,0.01"),
    ("i=FILE:whole", "1,-2,0"),
    ("b=FILE:truth", "true,false,true"),
    ("f=FILE:truth", "1.0,0.0,1.0"),
    ("k=FILE:names", "Red,Blue,Red"),
    ("k=FILE:truth", "Blue,Red,Blue"),
    ("o=FILE", "0.5 1,1.5 2,2.5 3"),
    ("p=FILE", "0.0 0.5,1.0 0.5,2.0 0.5"),
];

/// Inputs and what is said of them.
const WRONG: [(&str, &str); 10] = [
    (
        "i=FILE:u64",
        "1099511627776` in column `u64` does not fit into an i32",
    ),
    (
        "f=FILE:i64",
        "16777217` in column `i64` is not exact as an f32",
    ),
    (
        "f=FILE:far",
        "1e300` in column `far` is too large for an f32",
    ),
    ("i=FILE:cents", "1.10` in column `cents` is not whole"),
    ("k=FILE:words", "Green` in column `words` is not a variant"),
    ("f=FILE:words", "column `words` holds text"),
    ("f=FILE:gap", "the cell in column `gap` is null"),
    ("i=FILE:hole", "the cell in column `hole` is null"),
    ("p=FILE:places", "the cell in column `places.x` is null"),
    ("f=FILE:p", "takes 1 value per row"),
];

#[test]
fn each_type_has_the_right_value_or_is_refused() {
    let place = Place::new();
    place
        .write("t.parquet", parquet(types(), 2))
        .write("t.arrow", arrow(types(), false));
    for file in ["t.parquet", "t.arrow"] {
        for (input, expected) in RIGHT {
            let input = input.replace("FILE", file);
            assert_eq!(
                typed(&place, &input, &[]).as_deref(),
                Ok(expected),
                "{input}"
            );
        }
        for (input, expected) in WRONG {
            let input = input.replace("FILE", file);
            let said = typed(&place, &input, &[]).expect_err("it is refused");
            assert!(said.contains(expected), "{input}: {said}");
            assert!(said.contains("Help: "), "{input}: {said}");
        }
        let asked =
            |input: &str, option: &[&str]| typed(&place, &input.replace("FILE", file), option);
        assert_eq!(
            asked("f=FILE:i64", &["--lossy"]).as_deref(),
            Ok("-1.0,16777216.0,16777216.0")
        );
        let nan = ["--empty", "nan"];
        assert_eq!(asked("f=FILE:gap", &nan), Ok(format!("1.0,{NAN},3.0")));
        assert_eq!(
            asked("p=FILE:places", &nan),
            Ok(format!("0.5 0.5,{NAN} {NAN},2.5 2.5"))
        );
        assert!(asked("i=FILE:hole", &nan).is_err());
    }
}

#[test]
fn cells_of_csv_are_read_or_named() {
    let place = Place::new();
    place
        .write("gap.csv", "open,close,volume\n1,,NA\n2,3,null\n4,5,6\n")
        .write("big.csv", "a,b,c\n1,2,3\n16777217,1,1\n1,1,1\n")
        .write("mixed.csv", "a;b;c\n1,5;2;3\n1;2,25;3.5\n1;1;1\n")
        .write("group.csv", "a;b;c\n1,500;2;3\n1;2;3\n1;2;3\n")
        .write("quoted.csv", "a,b,c\n\"1,5\",2,3\n1,2,3\n1,2,3\n")
        .write("both.csv", "a;b;c,d\n1;2;3,4\n1;2;3\n1;2;3\n");
    let (found, _) = table(&place, "gap.csv", &["--empty", "nan"]);
    assert_eq!(found, "a,b,c\n1.0,NaN,NaN\n2.0,3.0,NaN\n4.0,5.0,6.0\n");
    let said = refused(&place, "gap.csv", &[]);
    assert!(
        said.contains("the cell in column `close` is empty\n  At: gap.csv:2"),
        "{said}"
    );
    assert!(said.contains("--empty nan"), "{said}");
    let said = refused(&place, "big.csv", &[]);
    assert!(
        said.contains("`16777217` in column `a` is not exact as an f32"),
        "{said}"
    );
    let (found, _) = table(&place, "big.csv", &["--lossy"]);
    assert_eq!(
        found,
        "a,b,c\n1.0,2.0,3.0\n16777216.0,1.0,1.0\n1.0,1.0,1.0\n"
    );
    for (file, option) in [
        ("mixed.csv", "--decimal"),
        ("group.csv", "--decimal"),
        ("quoted.csv", "--decimal"),
    ] {
        let said = refused(&place, file, &[]);
        assert!(said.contains(option), "{file}: {said}");
    }
    let comma = ["--decimal", "comma"];
    assert_eq!(
        table(&place, "group.csv", &comma).0,
        "a,b,c\n1.5,2.0,3.0\n1.0,2.0,3.0\n1.0,2.0,3.0\n"
    );
    assert_eq!(
        table(&place, "quoted.csv", &comma).0,
        "a,b,c\n1.5,2.0,3.0\n1.0,2.0,3.0\n1.0,2.0,3.0\n"
    );
    let said = refused(&place, "mixed.csv", &comma);
    assert!(said.contains("`3.5` in column `c` has a point"), "{said}");
    let semicolon = ["--separator", ";", "--decimal", "comma"];
    assert_eq!(
        table(&place, "both.csv", &semicolon).0,
        "a,b,c\n1.0,2.0,3.4\n1.0,2.0,3.0\n1.0,2.0,3.0\n"
    );
}

#[test]
fn archives_of_arrays_are_read_by_name() {
    let place = Place::new();
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, method) in [
        ("close", zip::CompressionMethod::Stored),
        ("low", zip::CompressionMethod::Deflated),
    ] {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive
            .start_file(format!("{name}.npy"), options)
            .expect("memory takes everything");
        let mut npy = crate::files::header("<f4", "(3, 3)");
        npy.extend((0..9).map(|at| at as f32).flat_map(f32::to_le_bytes));
        archive.write_all(&npy).expect("memory takes everything");
    }
    place.write(
        "a.npz",
        archive
            .finish()
            .expect("memory takes everything")
            .into_inner(),
    );
    for name in ["close", "low"] {
        let (found, _) = table(&place, &format!("a.npz:{name}"), &[]);
        assert_eq!(found, "a,b,c\n0.0,1.0,2.0\n3.0,4.0,5.0\n6.0,7.0,8.0\n");
    }
    let said = refused(&place, "a.npz:clsoe", &[]);
    assert!(
        said.contains("no array `clsoe`") && said.contains("did you mean `close`?"),
        "{said}"
    );
    assert!(refused(&place, "a.npz", &[]).contains("no array `t`"));
}

/// Files that pyarrow and polars wrote.
#[test]
fn files_of_others_are_read() {
    let place = Place::new();
    place
        .write("zstd1.parquet", include_bytes!("fixtures/zstd_v1.parquet"))
        .write("zstd2.parquet", include_bytes!("fixtures/zstd_v2.parquet"))
        .write("polars.arrow", include_bytes!("fixtures/polars.arrow"))
        .write("zstd.feather", include_bytes!("fixtures/zstd.feather"));
    for file in ["zstd1.parquet", "zstd2.parquet", "polars.arrow"] {
        let input = |name| {
            typed(
                &place,
                &format!(
                    "{name}={file}:{}",
                    if name == "f" { "price" } else { "kind" }
                ),
                &[],
            )
        };
        assert_eq!(input("f").as_deref(), Ok("1.5,2.5,-0.25"), "{file}");
        assert_eq!(input("k").as_deref(), Ok("Red,Blue,Red"), "{file}");
    }
    let said = typed(&place, "f=zstd.feather:price", &[]).expect_err("it is refused");
    assert!(said.contains("compressed with Zstandard"), "{said}");
}

/// Whatever is broken in a file, there is a message or a result.
#[test]
fn broken_files_are_refused() {
    let place = Place::new();
    for (name, whole) in [
        ("t.parquet", parquet(prices(), 2)),
        ("t.arrow", arrow(prices(), false)),
    ] {
        for length in [0, 3, 11, whole.len() / 2, whole.len() - 1] {
            place.write(name, &whole[..length]);
            let said = refused(&place, name, &[]);
            assert!(
                said.starts_with("[E0946]") || said.starts_with("[E0931]"),
                "{said}"
            );
        }
    }
}

#[test]
fn one_value_is_given_to_all_agents() {
    let place = Place::new();
    assert_eq!(typed(&place, "f=0.3", &[]).as_deref(), Ok("0.3,0.3,0.3"));
    assert_eq!(typed(&place, "i=-7", &[]).as_deref(), Ok("-7,-7,-7"));
    assert_eq!(
        typed(&place, "b=true", &[]).as_deref(),
        Ok("true,true,true")
    );
    assert_eq!(
        typed(&place, "k=Blue", &[]).as_deref(),
        Ok("Blue,Blue,Blue")
    );
    assert_eq!(
        typed(&place, "p=0.5,-1", &[]).as_deref(),
        Ok("0.5 -1.0,0.5 -1.0,0.5 -1.0")
    );
    for wrong in ["f=abc", "i=0.5", "k=Green", "p=0.5"] {
        let said = typed(&place, wrong, &[]).expect_err("it is refused");
        assert!(said.starts_with("[E0955]"), "{said}");
    }
}
