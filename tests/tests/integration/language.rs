//! One construct a specimen: its IR and its WGSL on one page. A snapshot shows what changed; that the
//! numbers are right is shown by `run`.

use super::files;
use sim_compiler::kernel::schedule::Schedule;
use sim_tests::page;

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
    let root = files::root();
    let mut pages = page::pages(&root.join("docs/book/src"));
    pages.extend(["README.md", "docs/language.md"].map(|name| root.join(name)));
    let mut models = 0;
    for path in pages {
        let text = std::fs::read_to_string(&path).expect("the page is there");
        for block in page::blocks(&text).iter().filter(|block| block.is_model()) {
            let diagnostics = sim_compiler::check(block.text);
            let report = sim_compiler::diagnostic::render::render(
                &path.display().to_string(),
                block.text,
                &diagnostics,
                Default::default(),
            );
            let as_said = diagnostics.is_empty() != block.is_wrong();
            assert!(as_said, "{}: {report}\n{}", path.display(), block.text);
            models += 1;
        }
    }
    assert!(models > 60, "the documentation shows {models} models");
}
