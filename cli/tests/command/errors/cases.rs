//! Complaints about the values of a launch: files that are wrong, and what is asked of them.

use crate::{data::parquet, files::header};
use arrow_array::TimestampSecondArray;
use std::sync::Arc;

/// A complaint: its constructor's name, the files that are there, the arguments after `run model.sim`.
pub(super) struct Case {
    pub(super) slug: &'static str,
    pub(super) files: Vec<(&'static str, Vec<u8>)>,
    pub(super) args: Vec<&'static str>,
}

fn case(slug: &'static str, file: (&'static str, &[u8]), args: &[&'static str]) -> Case {
    Case {
        slug,
        files: vec![(file.0, file.1.to_vec())],
        args: args.to_vec(),
    }
}

/// A file of one array.
pub(super) fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    [header(descr, shape), data.to_vec()].concat()
}

fn csv_cases() -> Vec<Case> {
    let data = |slug, text: &'static str| {
        case(slug, ("t.csv", text.as_bytes()), &["--data", "table=t.csv"])
    };
    let orders = |slug, text: &'static str| {
        case(
            slug,
            ("o.csv", text.as_bytes()),
            &["--data", "orders=o.csv"],
        )
    };
    let input = |slug, text: &'static str, name: &'static str| {
        case(slug, ("in.csv", text.as_bytes()), &["--input", name])
    };
    vec![
        data("table_empty", ""),
        data("table_empty-rows", "a,b\n"),
        data("csv_no_header", "1,2\n3,4\n"),
        data("csv_ragged", "a,b\n1,2\n3\n"),
        data("bad_cell", "a,b\n1,2\n3,four\n"),
        data("csv_malformed", "a,b\n1,\"2\n3,4\n"),
        data("bad_cell-crlf", "a,b\r\n1,2\r\n3,4\r\n\r\n5,x\r\n"),
        data("bad_cell-empty", "a,b\n1,\n"),
        data("bad_cell-overflow", "a,b\n1,1e39\n"),
        data("csv_malformed-utf16", ""),
        data("table_shape-columns", "a,b,c\n1,2,3\n4,5,6\n"),
        case(
            "table_shape-rows",
            ("t.csv", b"a,b\n1,2\n3,4\n"),
            &["--data", "fixed=t.csv"],
        ),
        orders("missing_column-struct", "size,cost\n1,2\n"),
        orders("missing_column-others", "a,b\n1,2\n"),
        orders("twin_columns-data", "price,size,price\n1,2,3\n"),
        case(
            "missing_column-vector",
            ("p.csv", b"lon,lat\n1,2\n"),
            &["--data", "places=p.csv"],
        ),
        data("missing_column-element", "table[0],b\n1,2\n"),
        input("missing_column", "w[0],v\n1,2\n3,4\n", "w=in.csv"),
        input("twin_columns", "x,x\n1,2\n3,4\n", "x=in.csv"),
        input("csv_blank_line", "x\n1\n\n2\n", "x=in.csv"),
        input("bad_cell-i32", "n\n1\n2147483648\n", "n=in.csv"),
        input("bad_cell-enum", "k\nRed\nGreen\n", "k=in.csv"),
        input("bad_cell-bool", "b\ntrue\nyes\n", "b=in.csv"),
        input("table_shape-agents", "x\n1\n2\n3\n", "x=in.csv"),
    ]
}

fn npy_cases() -> Vec<Case> {
    let data = |slug, bytes: Vec<u8>| Case {
        slug,
        files: vec![("t.npy", bytes)],
        args: vec!["--data", "table=t.npy"],
    };
    let fortran = npy("<f4", "(2, 2)", &[0; 16]);
    let fortran = String::from_utf8_lossy(&fortran[12..]).replace("False, ", "True,  ");
    let fortran = [&npy("<f4", "(2, 2)", &[])[..12], fortran.as_bytes()].concat();
    vec![
        data("npy_malformed", b"a,b\n1,2\n".to_vec()),
        data("npy_malformed-short", npy("<f4", "(2, 2)", &[0; 15])),
        data(
            "npy_malformed-huge",
            npy("<f4", "(9223372036854775807, 2)", &[0; 16]),
        ),
        data("npy_unsupported", npy(">f4", "(2, 2)", &[0; 16])),
        data("npy_unsupported-fortran", fortran),
        data("table_shape-npy", npy("<f4", "(2, 3)", &[0; 24])),
        data(
            "npy_value",
            npy("<f8", "(1, 2)", &[[0; 8], 1e300_f64.to_le_bytes()].concat()),
        ),
        Case {
            slug: "struct_needs_files",
            files: vec![("o.npy", npy("<f4", "(2, 2)", &[0; 16]))],
            args: vec!["--input", "o=o.npy"],
        },
    ]
}

/// Files with columns, and names of those.
fn column_cases() -> Vec<Case> {
    let data = |slug, file: (&'static str, Vec<u8>), arg: &'static str| Case {
        slug,
        files: vec![file],
        args: vec!["--data", arg],
    };
    let csv = |text: &str| ("t.csv", text.as_bytes().to_vec());
    let days = Arc::new(TimestampSecondArray::from(vec![0, 1]));
    let days = parquet(vec![("day", days.clone()), ("open", days)], 1);
    let brotli = include_bytes!("../fixtures/brotli.parquet").to_vec();
    vec![
        data("csv_ambiguous", csv("a;b\n1.000;0,5\n"), "table=t.csv"),
        data(
            "columns_malformed",
            ("t.parquet", b"a,b\n1,2\n".to_vec()),
            "table=t.parquet",
        ),
        data("columns_malformed-csv", csv("PAR1"), "table=t.csv"),
        data(
            "codec",
            ("b.parquet", brotli),
            "table=b.parquet:price,price",
        ),
        data("column_type", ("d.parquet", days), "table=d.parquet"),
        data(
            "unknown_column",
            csv("open,close\n1,2\n"),
            "table=t.csv:opne,close",
        ),
        data("picked_count", csv("open,close\n1,2\n"), "table=t.csv:open"),
        data("bad_columns", csv("open,close\n1,2\n"), "table=t.csv:open,"),
        data(
            "no_columns",
            ("t.npy", npy("<f4", "(2, 2)", &[0; 16])),
            "table=t.npy:open",
        ),
        data("npz_member", ("t.npz", empty_archive()), "table=t.npz"),
        data(
            "table_empty-parquet",
            ("t.parquet", Vec::new()),
            "table=t.parquet",
        ),
        data("needs_plain_file", csv(""), "table=null.arrow"),
        case("input_value", ("t.csv", b""), &["--input", "n=0.5"]),
        case(
            "bad_cell-lossy",
            ("in.csv", b"x\n1\n16777217\n"),
            &["--input", "x=in.csv"],
        ),
    ]
}

fn empty_archive() -> Vec<u8> {
    let archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let archive = archive.finish().expect("memory takes everything");
    archive.into_inner()
}

fn other_cases() -> Vec<Case> {
    let plain = |slug, args: &[&'static str]| Case {
        slug,
        files: Vec::new(),
        args: args.to_vec(),
    };
    vec![
        plain("no_such_file", &["--data", "table=missing.csv"]),
        plain("directory_for_file", &["--data", "table=folder.csv"]),
        plain(
            "given_twice",
            &["--param", "sigma=0.1", "--param", "sigma=0.2"],
        ),
        plain("bad_param", &["--param", "weights=0.1,abc,0.3"]),
        plain("bad_param-i32", &["--param", "turns=0.5"]),
        plain("param_count", &["--param", "weights=0.1,0.2"]),
        plain("bad_sweep", &["--sweep", "sigma=0.5:0.1:9"]),
        plain(
            "no_sweep_range",
            &["--sweep-random", "9", "--sweep-over", "turns"],
        ),
        plain(
            "too_large_sweep-grid",
            &["--sweep", "turns=1:1e6:1e6", "--sweep", "sigma=0,1"],
        ),
        case(
            "bad_points_file",
            ("points.csv", b"sigma\n0.5\nhigh\n"),
            &["--sweep-file", "points.csv"],
        ),
        plain("unknown_output_form", &["--output", "out.xlsx"]),
        plain("no_output_directory", &["--output", "nowhere/out.csv"]),
        plain("unknown_picture_form", &["--plot", "plot.pdf"]),
        plain("nothing_of_that_name", &["--plot", "--show", "z"]),
        plain("not_alike", &["--plot", "--show", "y+y"]),
        plain("unknown_table_form", &["--data", "table=t.xlsx"]),
        // The launch's own complaints, in the spelling of the command.
        case(
            "checkpoint_exists",
            ("old.ckpt", b"not mine"),
            &["--checkpoint", "old.ckpt"],
        ),
        case(
            "cannot_resume",
            ("old.ckpt", b"not mine"),
            &["--resume", "old.ckpt"],
        ),
        plain("launch-unknown_param", &["--param", "sgima=0.1"]),
        plain("launch-param_that_is_an_input", &["--param", "x=2.0"]),
        plain("launch-input_that_is_a_param", &["--input", "sigma=0.3"]),
        plain("launch-out_of_range", &["--param", "sigma=1.5"]),
        plain("launch-missing_data", &[]),
    ]
}

/// All of them.
pub(super) fn all() -> Vec<Case> {
    [csv_cases(), npy_cases(), column_cases(), other_cases()]
        .into_iter()
        .flatten()
        .collect()
}
