//! The types of a model for TypeScript.

use sim_compiler::{
    artifact::Artifact,
    manifest::{Field, Input, Manifest, Scalar, SeriesOf, Source},
    value::Shown,
};
use std::fmt::Write;

/// The file of types, with the runtime in the folder `at`.
pub(super) fn text(name: &str, artifact: &Artifact, at: &str) -> String {
    let manifest = artifact.visible_manifest();
    let runtime = serde_json::Value::from(format!("{at}/simc-runtime.js"));
    let mut text = format!(
        "// Written by `simc build --target web`: the types of {name}.js.\n\
         import type {{\n  LaunchOptions, LoadOptions, Model as AnyModel, Nested, NumberArray, Run as \
         AnyRun, Series,\n}} from {runtime};\n\n"
    );
    comment(&mut text, "", &manifest.doc);
    values(&mut text, &manifest);
    results(&mut text, &manifest);
    let launch = if needs_values(&manifest) {
        "launch"
    } else {
        "launch?"
    };
    let _ = write!(
        text,
        "/** The model. */\n\
         export interface Model extends Omit<AnyModel, \"run\"> {{\n  \
           run({launch}: Launch): Promise<Run>;\n}}\n\n\
         /** Loads the runtime and the model. */\n\
         export function load(options?: LoadOptions): Promise<Model>;\n\
         /** The text of the model. */\n\
         export const source: string;\n\
         /** What the model takes and gives. */\n\
         export const manifest: any;\n"
    );
    text
}

/// The inputs of agents and of worlds.
fn inputs(manifest: &Manifest) -> impl Iterator<Item = &Input> {
    manifest.inputs.iter().chain(&manifest.world_rows().inputs)
}

/// Whether a launch must give any value.
fn needs_values(manifest: &Manifest) -> bool {
    manifest.params.iter().any(|param| param.default.is_none())
        || !manifest.data.is_empty()
        || inputs(manifest).any(|input| input.source == Source::Required)
}

/// What a launch gives: params, tables and inputs.
fn values(text: &mut String, manifest: &Manifest) {
    let params = manifest.params.iter().map(|param| {
        let (field, mut doc) = (&param.field, param.field.doc.clone());
        if let Some([first, last]) = param.range {
            let _ = write!(doc, "\nFrom {} to {}.", Shown(first), Shown(last));
        }
        (doc, param.default.is_none(), field, taken(field, false))
    });
    let data = manifest.data.iter().map(|table| {
        let field = &table.field;
        (field.doc.clone(), true, field, taken(field, true))
    });
    let inputs = inputs(manifest).map(|input| {
        let (field, required) = (&input.field, input.source == Source::Required);
        (field.doc.clone(), required, field, taken(field, true))
    });
    *text += "export interface Values {\n";
    for (doc, required, field, ty) in params.chain(data).chain(inputs) {
        comment(text, "  ", &doc);
        let mark = if required { "" } else { "?" };
        let _ = writeln!(text, "  {}{mark}: {ty};", key(&field.name));
    }
    *text +=
        "}\n\n/** What a run is asked for. */\nexport type Launch = LaunchOptions & Values;\n\n";
}

/// What a run gives: outputs, states and series.
fn results(text: &mut String, manifest: &Manifest) {
    let world = manifest.world_rows();
    let given = [
        ("Outputs", &manifest.outputs),
        ("States", &manifest.states),
        ("WorldOutputs", &world.outputs),
        ("WorldStates", &world.states),
    ];
    for (name, fields) in given {
        let _ = writeln!(text, "export interface {name} {{");
        for field in fields {
            comment(text, "  ", &field.doc);
            let _ = writeln!(text, "  {}: {};", key(&field.name), array(field.scalar));
        }
        *text += "}\n\n";
    }
    for (name, of_agents) in [("Records", true), ("Observed", false)] {
        let _ = writeln!(text, "export interface {name} {{");
        let all = manifest.series.iter();
        for series in all.filter(|series| (series.of == SeriesOf::Agents) == of_agents) {
            let field = &series.field;
            comment(text, "  ", &field.doc);
            let (name, ty) = (key(&field.name), array(field.scalar));
            let _ = writeln!(text, "  {name}: Series & {{ values: {ty} }};");
        }
        *text += "}\n\n";
    }
    *text += "type Named = \"outputs\" | \"states\" | \"worldOutputs\" | \"worldStates\" | \"records\" | \
         \"observed\";\n\n\
         /** The results of a run. */\n\
         export interface Run extends Omit<AnyRun, Named> {\n  \
           outputs: Outputs;\n  states: States;\n  worldOutputs: WorldOutputs;\n  \
           worldStates: WorldStates;\n  records: Records;\n  observed: Observed;\n}\n\n";
}

/// The type of a value of a launch.
fn taken(field: &Field, is_table: bool) -> String {
    let one = match field.scalar {
        Scalar::Bool => "boolean".to_owned(),
        Scalar::U32 if !field.variants.is_empty() => {
            let names = field
                .variants
                .iter()
                .map(|variant| format!("\"{variant}\""));
            names.collect::<Vec<_>>().join(" | ") + " | number"
        }
        Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::U32 => "number".to_owned(),
    };
    match (is_table, field.dims().is_empty()) {
        (false, true) => one,
        (false, false) => "NumberArray | Nested".to_owned(),
        (true, _) => format!("{one} | NumberArray | Nested"),
    }
}

/// The typed array of results.
fn array(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F32 => "Float32Array",
        Scalar::F64 => "Float64Array",
        Scalar::I32 => "Int32Array",
        Scalar::U32 => "Uint32Array",
        Scalar::Bool => "Uint8Array",
    }
}

/// A name as a key; those of fields of structs have a dot.
fn key(name: &str) -> String {
    match name.contains('.') {
        true => format!("\"{name}\""),
        false => name.to_owned(),
    }
}

fn comment(text: &mut String, before: &str, doc: &str) {
    let doc = doc.trim();
    if doc.is_empty() {
        return;
    }
    // The end of a comment must not stand in it.
    let doc = doc.replace("*/", "* /");
    let lines: Vec<&str> = doc.lines().map(str::trim).collect();
    match lines.as_slice() {
        [line] => {
            let _ = writeln!(text, "{before}/** {line} */");
        }
        lines => {
            let _ = writeln!(text, "{before}/**");
            for line in lines {
                let _ = writeln!(text, "{}", format!("{before} * {line}").trim_end());
            }
            let _ = writeln!(text, "{before} */");
        }
    }
}
