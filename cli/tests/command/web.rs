//! `simc build --target web`, with files in place of the runtime, whose tests are in `web/runtime/tests`.

use crate::{Place, Said};
use std::{fs, path::Path};

const MODEL: &str = "\
//! A walk <of> agents.
agents 100
steps 10
enum Mood { Calm, Angry }
/// How far a step goes.
param sigma = 0.5 in 0.0..2.0
param mood: Mood = Mood.Calm
param weights: [f32; 2] = [1.0, 2.0]
/// One value per step.
data table: [f32]
input start: f32 = 0.0
state x = start
step t { x += sigma * normal() + table[t] }
record path = x
observe middle = mean(x)
output x
output calm = mood == Mood.Calm
";

/// A place with the model and a folder in place of the runtime.
fn place(version: &str) -> Place {
    let place = Place::new();
    place.write("walk.sim", MODEL);
    fs::create_dir(place.path("runtime")).expect("it can be made");
    place.write("runtime/version.txt", version);
    place.write("runtime/simc-runtime.js", "export function compile() {}\n");
    place.write("runtime/sim_web_bg.wasm", [0, 97, 115, 109]);
    place
}

fn build(place: &Place, more: &[&str]) -> Said {
    let args = ["build", "walk.sim", "--target", "web", "-o", "site"];
    place.simc(&[&args, more].concat())
}

#[test]
fn a_folder_has_module_types_kernel_page_and_runtime() {
    let place = place(concat!(env!("CARGO_PKG_VERSION"), "\n"));
    let said = build(&place, &["--runtime", "runtime", "--math", "precise"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{}", said.err);
    assert!(said.err.contains("index.html"), "{}", said.err);
    let module = place.text("site/walk.js");
    assert!(module.contains("export function load("), "{module}");
    assert!(
        module.contains(r"//! A walk <of> agents.\nagents 100"),
        "{module}"
    );
    let magic = sim_compiler::packed::base64(b"SIM");
    let program = format!("const program =\n  \"{magic}");
    assert!(module.contains(&program), "{module}");
    let kernel = place.text("site/walk.wgsl");
    assert!(kernel.contains("@compute"));
    let page = place.text("site/index.html");
    assert!(
        page.contains("<title>A walk &lt;of&gt; agents.</title>"),
        "{page}"
    );
    assert!(
        page.contains("data-model=\"./walk.js\"") && !page.contains("{{"),
        "{page}"
    );
    assert_eq!(place.read("site/sim_web_bg.wasm"), [0, 97, 115, 109]);
    assert!(!Path::new(&place.path("site/version.txt")).exists());
    let types = place.text("site/walk.d.ts");
    for line in [
        "  /**\n   * How far a step goes.\n   * From 0 to 2.\n   */\n  sigma?: number;",
        "  mood?: \"Calm\" | \"Angry\" | number;",
        "  weights?: NumberArray | Nested;",
        "  /** One value per step. */\n  table: number | NumberArray | Nested;",
        "  start?: number | NumberArray | Nested;",
        "  calm: Uint8Array;",
        "  x: Float32Array;",
        "  path: Series & { values: Float32Array };",
        "  middle: Series & { values: Float32Array };",
        "  run(launch: Launch): Promise<Run>;",
    ] {
        assert!(types.contains(line), "{line}\nin\n{types}");
    }
}

#[test]
fn pages_can_share_a_runtime() {
    let place = place(env!("CARGO_PKG_VERSION"));
    let said = build(&place, &["--runtime-url", "../runtime/"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!place.path("site/simc-runtime.js").exists());
    let imported = "from \"../runtime/simc-runtime.js\";";
    for file in ["site/walk.js", "site/walk.d.ts"] {
        let text = place.text(file);
        assert!(text.contains(imported), "{file}: {text}");
    }
    let page = place.text("site/index.html");
    for found in [
        "../runtime/page.css\"",
        "../runtime/page.js\"",
        "\"./walk.js\"",
    ] {
        assert!(page.contains(found), "{found} in {page}");
    }
    for elsewhere in [
        "https://example.org/runtime",
        "//example.org/runtime",
        "runtime",
    ] {
        let said = build(&place, &["--runtime-url", elsewhere]);
        assert_eq!(said.code, 2, "{elsewhere}: {}", said.err);
        assert!(said.err.contains("own origin"), "{}", said.err);
    }
}

#[test]
fn a_variable_names_the_runtime_as_well() {
    let place = place(env!("CARGO_PKG_VERSION"));
    let args = ["build", "walk.sim", "--target", "web", "-o", "site"];
    let mut command = place.command(&args);
    let done = command.env("SIM_WEB_RUNTIME", "runtime").output();
    assert!(done.expect("it can be started").status.success());
}

#[test]
fn without_a_runtime_it_is_said_how_to_build_one() {
    let place = place("0.0.1");
    let said = build(&place, &["--runtime", "nowhere"]);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("E0994") && said.err.contains("scripts/web/build.sh"),
        "{}",
        said.err
    );
    assert!(!place.path("site").exists());
    let said = build(&place, &["--runtime", "runtime"]);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("E0995") && said.err.contains("0.0.1"),
        "{}",
        said.err
    );
}

#[test]
fn what_does_not_go_together_is_refused() {
    let place = place(env!("CARGO_PKG_VERSION"));
    for more in [
        &["--emit", "wgsl"][..],
        &["--device", "software"],
        &["--unroll-steps", "2"],
    ] {
        let said = build(&place, more);
        assert_eq!(said.code, 2, "{more:?}: {}", said.err);
    }
    let said = place.simc(&["build", "walk.sim", "--target", "web"]);
    assert_eq!(said.code, 2, "{}", said.err);
}
