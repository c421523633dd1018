//! The two validators of WGSL.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::{
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

/// Fails if naga refuses the text, with no capabilities beyond WebGPU's.
pub fn naga(text: &str) {
    naga_with(text, Capabilities::empty());
}

/// The same where there are subgroups.
pub fn naga_with_subgroups(text: &str) {
    naga_with(text, Capabilities::SUBGROUP);
}

fn naga_with(text: &str, capabilities: Capabilities) {
    let module = match naga::front::wgsl::parse_str(text) {
        Ok(module) => module,
        Err(error) => panic!("{}\n{text}", error.emit_to_string(text)),
    };
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    validator.subgroup_stages(naga::valid::ShaderStages::COMPUTE);
    validator.subgroup_operations(naga::valid::SubgroupOperationSet::all());
    if let Err(error) = validator.validate(&module) {
        panic!("{}\n{text}", error.emit_to_string(text));
    }
}

/// Fails if tint refuses the text; says so and passes where tint is not installed.
pub fn tint(text: &str) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("sim-{}-{number}.wgsl", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).expect("a writable folder for temporary files");
    let result = Command::new("tint")
        .args(["--format", "wgsl"])
        .arg(&path)
        .stdout(Stdio::null())
        .output();
    std::fs::remove_file(&path).expect("the file just written");
    match result {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!("{}\n{text}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => eprintln!("skipped tint: {error}"),
    }
}
