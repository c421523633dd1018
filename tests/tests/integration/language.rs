//! One construct a specimen: its IR and its WGSL on one page. A snapshot shows what changed; that the
//! numbers are right is shown by `run`.

use super::files;
use sim_compiler::kernel::schedule::Schedule;

#[test]
fn each_construct_has_its_page() {
    for (name, source) in files::models("tests/language") {
        let artifact = sim_compiler::compile(&source).unwrap_or_else(|diagnostics| {
            panic!(
                "{}",
                sim_compiler::diagnostic::render::render(
                    &name,
                    &source,
                    &diagnostics,
                    Default::default()
                )
            )
        });
        let ir = sim_compiler::ir::print::print(&artifact.program);
        // One copy of the step: that an iteration may have several is not a matter of the language.
        let kernel = artifact.kernel(&Schedule {
            unroll_steps: 1,
            ..Schedule::default()
        });
        let page = format!(
            "{source}\n======== IR\n{ir}\n======== WGSL\n{}",
            kernel.wgsl
        );
        insta::with_settings!({
            snapshot_path => "../../language/snapshots",
            prepend_module_to_snapshot => false,
            omit_expression => true
        }, {
            insta::assert_snapshot!(name, page);
        });
    }
}

#[test]
fn the_text_is_the_same_from_build_to_build() {
    for (name, source) in files::models("lang-examples") {
        let texts: Vec<String> = (0..3)
            .map(|_| {
                sim_compiler::compile(&source)
                    .expect("an example compiles")
                    .wgsl()
            })
            .collect();
        assert!(
            texts.iter().all(|text| *text == texts[0]),
            "{name} differs from build to build"
        );
    }
}

#[test]
fn models_in_the_documentation_compile() {
    let mut models = 0;
    for page in ["README.md", "docs/language.md"] {
        let text = std::fs::read_to_string(files::root().join(page)).expect("the page is there");
        for block in text.split("```sim\n").skip(1) {
            let source = block.split("```").next().unwrap_or_default();
            let diagnostics = sim_compiler::check(source);
            let report = sim_compiler::diagnostic::render::render(
                page,
                source,
                &diagnostics,
                Default::default(),
            );
            assert!(diagnostics.is_empty(), "{report}\n{source}");
            models += 1;
        }
    }
    assert!(models > 1, "the documentation shows no model");
}
