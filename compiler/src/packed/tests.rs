//! Artifacts survive as bytes, and damaged bytes are found out.

use super::{Artifact, Unreadable, VERSION};
use crate::{
    emit::{self, RunSize},
    kernel::{profile::DeviceClass, schedule::Target},
};

const MODEL: &str = "\
    agents 8\nsteps 3\nworld 4\n\
    param rate = 0.5 in 0.0..1.0\ndata table: [f32]\ninput a: f32 ~ normal(0.0, 1.0)\n\
    state x = a\nstate n: i32 = -7\n\
    step t {\n    if x > 0.5 { x -= rate } else { x += table[t] }\n    n += poisson(2.0)\n}\n\
    observe middle = mean(x)\noutput x\noutput n\n";

fn artifact() -> Artifact {
    let mut artifact = crate::compile(MODEL).expect("it compiles");
    emit::prepare(&mut artifact, RunSize::default()).expect("it says the size of its worlds");
    artifact
}

#[test]
fn bytes_have_all_of_an_artifact() {
    let mut before = artifact();
    before.lowered = before.program.clone();
    let mut after = Artifact::unpack(&before.pack()).expect("it is whole");
    assert_eq!(before.pack(), after.pack());
    assert_eq!(before.program.texts, after.program.texts);
    for artifact in [&mut before, &mut after] {
        // Their order is not defined.
        artifact.program.texts.clear();
        artifact.lowered.texts.clear();
    }
    assert_eq!(format!("{before:#?}"), format!("{after:#?}"));
}

#[test]
fn base64_is_what_rfc_4648_says() {
    let vectors = [
        ("", ""),
        ("f", "Zg=="),
        ("fo", "Zm8="),
        ("foo", "Zm9v"),
        ("foob", "Zm9vYg=="),
    ];
    for (plain, text) in vectors {
        assert_eq!(super::base64(plain.as_bytes()), text);
    }
    assert_eq!(super::base64(&[0xff, 0xfe, 0xfd]), "//79");
}

#[test]
fn kernels_are_prepared_for_what_a_browser_has() {
    let artifact = artifact();
    let target = |class, members| Target {
        members: Some(members),
        ..Target::of(class, 8, 3)
    };
    for class in [DeviceClass::SmallGpu, DeviceClass::Software] {
        let kernel = emit::prepared(&artifact, &target(class, 4)).expect("there is one");
        assert!(kernel.kernel.wgsl.contains("@compute"));
    }
    assert!(emit::prepared(&artifact, &target(DeviceClass::SmallGpu, 8)).is_none());
}

#[test]
fn kernels_of_pages_have_the_storage_buffers_that_every_browser_has() {
    let source = "agents 8\nsteps 3\ndata a: [f32]\ndata b: [f32]\ndata c: [f32]\n\
        state x: [f32; 40] = 0.0\nstep t {\n    var y: [f32; 40] = a[t]\n    y[t] = b[t]\n    \
        x[t] = y[t % 3] + c[t]\n}\noutput x\n";
    let mut artifact = crate::compile(source).expect("it compiles");
    emit::prepare(&mut artifact, RunSize::default()).expect("it has no worlds");
    for class in [DeviceClass::SmallGpu, DeviceClass::Software] {
        let found = emit::prepared(&artifact, &Target::of(class, 8, 3));
        let wgsl = &found.expect("there is one").kernel.wgsl;
        assert!(wgsl.contains("array<f32, 40>"), "{wgsl}");
        assert!(wgsl.matches("var<storage").count() <= 8, "{wgsl}");
    }
}

#[test]
fn other_versions_and_damage_are_found_out() {
    let bytes = artifact().pack();
    let read = |bytes: &[u8]| Artifact::unpack(bytes).err();
    assert_eq!(read(b""), Some(Unreadable::Damaged));
    assert_eq!(read(&bytes[..bytes.len() - 1]), Some(Unreadable::Damaged));
    for at in (0..bytes.len()).step_by(7) {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(read(&changed).is_some(), "byte {at} counts");
    }
    let mut other = bytes.clone();
    other[5] = b'9';
    let version = VERSION.replacen(&VERSION[..1], "9", 1);
    assert_eq!(read(&other), Some(Unreadable::OtherVersion(version)));
}
