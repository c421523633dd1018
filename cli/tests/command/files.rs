//! Values survive the way through CSV, NPY and JSON to the bit.

use crate::Place;

/// Hands every kind of input through.
const ECHO: &str = "
agents 3
enum Kind { Red, Blue }
struct Order { price: f32, size: u32 }
input f: f32 = 0.0
input i: i32 = 0
input u: u32 = 0u
input b: bool = false
input k: Kind = Red
input w: [[f32; 2]; 2] ~ normal()
input p: vec2 = vec2(0.0, 0.0)
input o: Order = Order(0.0, 0u)
output f = f
output i = i
output u = u
output b = b
output k = k
output w = w
output p = p
output o = o
";

/// As `--output` writes it, with values at the ends of their ranges.
const TABLE: &str = "\
f,i,u,b,k,w[0][0],w[0][1],w[1][0],w[1][1],p.x,p.y,o.price,o.size
0.1,-2147483648,4294967295,true,Blue,1.0,2.0,3.0,4.0,inf,-inf,100.25,7
-0.0,2147483647,0,false,Red,1e-45,3.4028235e38,1.1754944e-38,-1e20,NaN,0.33333334,-5.0,0
16777216.0,0,1,true,Red,1.0000001,0.99999994,-0.5,1e-7,123456.79,0.0,1e16,42
";

const NAMES: [&str; 8] = ["f", "i", "u", "b", "k", "w", "p", "o"];

fn echo(place: &Place, files: impl Fn(&str) -> String, output: &str) {
    place.write("echo.sim", ECHO);
    let given: Vec<String> = NAMES.iter().map(|name| files(name)).collect();
    let mut args = vec![
        "run",
        "echo.sim",
        "--backend",
        "cpu",
        "--force",
        "-o",
        output,
    ];
    for given in given.iter().flat_map(|given| given.split(' ')) {
        args.extend(["--input", given]);
    }
    place.good(&args);
}

#[test]
fn csv_comes_back_to_the_bit() {
    let place = Place::new();
    place.write("in.csv", TABLE);
    echo(&place, |name| format!("{name}=in.csv"), "out.csv");
    assert_eq!(place.text("out.csv"), TABLE);
    assert_eq!(
        place.names(),
        ["echo.sim", "in.csv", "out.csv", "out.meta.json"],
        "no temporary file is left"
    );
}

#[test]
fn columns_may_stand_in_any_order_with_a_byte_order_mark_and_crlf() {
    let place = Place::new();
    let turned: String = TABLE
        .lines()
        .map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            cells.reverse();
            format!("note, {} \r\n", cells.join(" , "))
        })
        .collect();
    place.write("in.csv", format!("\u{feff}{turned}\r\n\r\n"));
    echo(&place, |name| format!("{name}=in.csv"), "out.csv");
    assert_eq!(place.text("out.csv"), TABLE);
}

#[test]
fn npy_comes_back_to_the_bit() {
    let place = Place::new();
    place.write("in.csv", TABLE);
    echo(&place, |name| format!("{name}=in.csv"), "run.npy");
    // A NaN with a payload survives too.
    let mut bits = place.read("run.f.npy");
    let at = bits.len() - 4;
    bits[at..].copy_from_slice(&0x7fc0_1234_u32.to_le_bytes());
    place.write("run.f.npy", &bits);
    let npy = |name: &str| match name {
        "o" => "o.price=run.o.price.npy o.size=run.o.size.npy".to_owned(),
        name => format!("{name}=run.{name}.npy"),
    };
    echo(&place, npy, "again.npy");
    for name in ["f", "i", "u", "b", "k", "w", "p", "o.price", "o.size"] {
        let (first, second) = (format!("run.{name}.npy"), format!("again.{name}.npy"));
        assert_eq!(place.read(&first), place.read(&second), "{name}");
    }
    echo(&place, npy, "out.csv");
    assert_eq!(place.text("out.csv"), TABLE.replace("16777216.0,", "NaN,"));
}

#[test]
fn npy_files_have_numpys_form() {
    let place = Place::new();
    place.write(
        "one.sim",
        "agents 2\noutput w = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\n",
    );
    place.good(&["run", "one.sim", "--backend", "cpu", "-o", "w.npy"]);
    let bytes = place.read("w.npy");
    // From numpy.lib.format: mark, version 1.0, length so that the data begins at a multiple of 64.
    assert_eq!(bytes[..10], *b"\x93NUMPY\x01\x00\x76\x00");
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 3), }";
    assert_eq!(bytes[10..127], *format!("{header:<117}").as_bytes());
    assert_eq!(bytes[127], b'\n');
    let values: Vec<f32> = bytes[128..]
        .chunks_exact(4)
        .map(|word| f32::from_le_bytes(word.try_into().expect("4 bytes")))
        .collect();
    assert_eq!(
        values,
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    );
}

#[test]
fn json_nests_as_the_model_does() {
    let place = Place::new();
    place.write("in.csv", TABLE);
    echo(&place, |name| format!("{name}=in.csv"), "out.json");
    let found: serde_json::Value =
        serde_json::from_slice(&place.read("out.json")).expect("the output is JSON");
    assert_eq!(found["w"][0], serde_json::json!([[1.0, 2.0], [3.0, 4.0]]));
    assert_eq!(found["p"][1], serde_json::json!(["NaN", 0.333_333_34]));
    assert_eq!(found["p"][0], serde_json::json!(["inf", "-inf"]));
    assert_eq!(found["k"], serde_json::json!(["Blue", "Red", "Red"]));
    assert_eq!(found["b"], serde_json::json!([true, false, true]));
    assert_eq!(found["u"][0], 4_294_967_295_u32);
    assert_eq!(found["o.size"], serde_json::json!([7, 0, 42]));
    let floats: Vec<u32> = found["f"]
        .as_array()
        .expect("an array")
        .iter()
        .map(|value| (value.as_f64().expect("a number") as f32).to_bits())
        .collect();
    assert_eq!(floats, [0.1_f32, -0.0, 16_777_216.0].map(f32::to_bits));
}

#[test]
fn tables_are_read_in_order_and_rounded_to_nearest() {
    let place = Place::new();
    place.write(
        "sum.sim",
        "agents 3\ndata t: [[f32; 2]]\ndata one: i32\noutput row = t[agent]\noutput one = one\n",
    );
    place.write("t.csv", "left,right\n0.1,2\n\"3\",4e0\n5.,.5\n");
    place.write("one.csv", "any name\n-7\n");
    place.good(&[
        "run",
        "sum.sim",
        "--backend",
        "cpu",
        "--data",
        "t=t.csv",
        "--data",
        "one=one.csv",
        "-o",
        "out.csv",
    ]);
    assert_eq!(
        place.text("out.csv"),
        "row[0],row[1],one\n0.1,2.0,-7\n3.0,4.0,-7\n5.0,0.5,-7\n"
    );
}

#[test]
fn numpys_default_types_are_converted() {
    let place = Place::new();
    place.write(
        "sum.sim",
        "agents 2\ndata t: [[f32; 2]]\ndata n: [i32]\noutput t = t[agent]\noutput n = n[agent]\n",
    );
    let mut floats = header("<f8", "(2, 2)");
    for value in [0.1_f64, 1e300 / 1e300, -2.5, f64::NAN] {
        floats.extend(value.to_le_bytes());
    }
    let mut whole = header("<i8", "(2,)");
    for value in [-1_i64, 70_000] {
        whole.extend(value.to_le_bytes());
    }
    place.write("t.npy", floats).write("n.NPY", whole);
    place.good(&[
        "run",
        "sum.sim",
        "--backend",
        "cpu",
        "--data",
        "t=t.npy",
        "--data",
        "n=n.NPY",
        "-o",
        "out.csv",
    ]);
    assert_eq!(
        place.text("out.csv"),
        "t[0],t[1],n\n0.1,1.0,-1\n-2.5,NaN,70000\n"
    );
}

#[test]
fn tables_of_structs_and_vectors_are_read_by_name() {
    let place = Place::new();
    place.write(
        "orders.sim",
        "agents 2\nstruct Order { price: f32, size: i32 }\ndata orders: [Order]\ndata at: [vec2]\n\
         output price = orders[agent].price\noutput size = orders[agent].size\noutput at = at[agent]\n",
    );
    place.write("at.csv", "y,note,x\n10,a,1\n20,b,2\n");
    let expected = "price,size,at.x,at.y\n99.5,1,1.0,10.0\n98.5,2,2.0,20.0\n";
    for (text, given) in [
        ("size,price\n1,99.5\n2,98.5\n", &["orders=o.csv"][..]),
        ("price,size\n99.5,1\n98.5,2\n", &["orders=o.csv"]),
        (
            "orders.size,day,orders.price\n1,mo,99.5\n2,tu,98.5\n",
            &["orders=o.csv"],
        ),
        (
            "size,price\n1,99.5\n2,98.5\n",
            &["orders.price=o.csv", "orders.size=o.csv"],
        ),
    ] {
        place.write("o.csv", text);
        let mut args = vec![
            "run",
            "orders.sim",
            "--backend",
            "cpu",
            "-o",
            "out.csv",
            "--force",
        ];
        for given in given {
            args.extend(["--data", given]);
        }
        args.extend(["--data", "at=at.csv"]);
        place.good(&args);
        assert_eq!(place.text("out.csv"), expected, "{text}");
    }
}

/// The start of an NPY file of version 2.
pub(crate) fn header(descr: &str, shape: &str) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(text.bytes());
    bytes
}

#[test]
fn a_row_may_have_very_many_columns() {
    let place = Place::new();
    place.write(
        "t.sim",
        "agents 1\ndata t: [[f32; 30_000]]\noutput y = t[1][29_999]\n",
    );
    let header: Vec<String> = (0..30_000).map(|at| format!("column {at}")).collect();
    let row: Vec<String> = (0..30_000).map(|at| at.to_string()).collect();
    let (header, row) = (header.join(","), row.join(","));
    place.write("t.csv", format!("day,{header}\nMo,{row}\nTu,{row}\n"));
    let args = [
        "run",
        "t.sim",
        "--backend",
        "cpu",
        "-o",
        "out.csv",
        "--data",
        "t=t.csv",
    ];
    let said = place.good(&args);
    assert_eq!(place.text("out.csv"), "y\n29999.0\n");
    assert!(said.err.contains("left out `day` (text)"), "{}", said.err);
}
