//! The reduction on a device gives the statistics of the host.

use super::*;
use crate::{
    clock,
    gpu::{adapter, entry_point::record},
    statistics::MOST_ROWS,
    values::{Column as Values, Values::F32},
};

/// A device and the compiled kernels; `None` without an adapter.
fn open() -> Option<(OpenDevice, Arc<Reducer>)> {
    let open = match clock::block_on(adapter::best(None)) {
        Ok(adapter) => clock::block_on(OpenDevice::open(&adapter)).expect("the adapter opens"),
        Err(error) if sim_tests::launch::requires_gpu() => panic!("{error}"),
        Err(_) => return None,
    };
    let reducer = Reducer::create(&open).expect("the kernels compile");
    Some((open, Arc::new(reducer)))
}

fn field(scalar: Scalar, word: u32, words: u32) -> Field {
    Field {
        name: format!("x{word}"),
        doc: String::new(),
        scalar,
        shape: if words == 1 { vec![] } else { vec![words] },
        components: 1,
        variants: Vec::new(),
        word,
    }
}

/// Uploads words after a gap, since a binding may have an offset.
fn upload(open: &OpenDevice, words: &[u32]) -> wgpu::Buffer {
    let usage =
        wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    let bytes = 4 * words.len() as u64;
    let device = open.buffer("testing", GAP + bytes, usage).expect("it fits");
    open.queue.write_buffer(&device, 0, &[0xff; GAP as usize]);
    open.queue
        .write_buffer(&device, GAP, bytemuck::cast_slice(words));
    device
}

const GAP: u64 = 256;

fn bound(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer,
        offset: GAP,
        size: None,
    });
    wgpu::BindGroupEntry { binding, resource }
}

/// Runs a reduction and reads the report back.
fn found(open: &OpenDevice, reducer: &Arc<Reducer>, source: &Source<'_>) -> Result<Sums, Fault> {
    let reduction = Reduction::create(open, Arc::clone(reducer), source).expect("it fits");
    let bytes = reduction.report.size();
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let back = open.buffer("testing", bytes, usage).expect("it fits");
    let mut encoder = open.device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    record(&mut pass, &reduction.dispatches());
    drop(pass);
    encoder.copy_buffer_to_buffer(&reduction.report, 0, &back, 0, bytes);
    encoder.map_buffer_on_submit(&back, wgpu::MapMode::Read, .., |mapped| {
        mapped.expect("it is mapped");
    });
    open.queue.submit([encoder.finish()]);
    let wait = wgpu::PollType::wait_indefinitely();
    open.device.poll(wait).expect("the device runs");
    let view = back.get_mapped_range(..).expect("it is mapped");
    let mut words: &[u32] = bytemuck::cast_slice(&view);
    let reduced = reduction.read(&mut words);
    assert!(words.is_empty());
    reduced
}

/// Reduces columns in the device's layout, and step counts.
fn reduce(
    fields: &[Field],
    words: &[u32],
    progress: &[u32],
    steps: u32,
) -> Option<Result<Sums, Fault>> {
    let (open, reducer) = open()?;
    let agents = progress.len() as u32;
    assert!(is_possible(&open.limits, fields, agents));
    let (outputs, progress) = (upload(&open, words), upload(&open, progress));
    let source = Source {
        results: vec![
            bound(binding::OUTPUTS, &outputs),
            bound(binding::PROGRESS, &progress),
        ],
        fields,
        agents,
        steps,
    };
    let first = found(&open, &reducer, &source);
    let again = found(&open, &reducer, &source);
    assert_eq!(
        format!("{first:?}"),
        format!("{again:?}"),
        "it is repeatable"
    );
    Some(first)
}

/// Compares the statistics of the device with those of the host.
#[track_caller]
fn same(name: &str, device: &Statistics, host: &Statistics) {
    let bits = |of: &Statistics| {
        let moments = [of.mean, of.deviation].map(|it| it.map(f64::to_bits));
        (
            of.count,
            of.nan,
            of.five.map(|five| five.map(f64::to_bits)),
            moments,
        )
    };
    assert_eq!(bits(device), bits(host), "{name}: {device:?} {host:?}");
}

/// Reduces one column.
fn one(name: &str, scalar: Scalar, words: &[u32]) {
    let progress = vec![7; words.len()];
    let Some(found) = reduce(&[field(scalar, 0, 1)], words, &progress, 7) else {
        return;
    };
    let values = crate::values::Values::from_words(scalar, words.to_vec());
    let host = Statistics::of(&values, 0, 1);
    let found = found.expect("all step counts are right");
    same(name, &found.outputs[0][0], &host);
    assert_eq!(found.agent_steps, 7 * words.len() as u64, "{name}");
    assert_eq!(found.stopped, 0, "{name}");
}

fn floats(name: &str, values: &[f32]) {
    let words: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
    one(name, Scalar::F32, &words);
}

/// Uniform words: the finaliser of MurmurHash3 over a counter.
fn random(count: usize) -> impl Iterator<Item = u32> {
    (0..count as u32).map(|i| {
        let mut x = i.wrapping_mul(0x9e37_79b9).wrapping_add(0x85eb_ca6b);
        x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
        x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
        x ^ (x >> 16)
    })
}

/// Approximately normal: sums of 12 uniform numbers.
fn normals(count: usize) -> Vec<f32> {
    let words: Vec<u32> = random(12 * count).collect();
    (words.chunks_exact(12))
        .map(|twelve| {
            twelve
                .iter()
                .map(|&x| x as f32 / 2_f32.powi(32))
                .sum::<f32>()
                - 6.0
        })
        .collect()
}

#[test]
fn random_columns_are_as_on_the_host() {
    floats("normal", &normals(300_000));
    let shifted: Vec<f32> = normals(100_001).iter().map(|x| 1e6 + x).collect();
    floats("a mean much larger than the deviation", &shifted);
    // All bits, so also NaNs, infinities, subnormals and every exponent.
    for scalar in [Scalar::F32, Scalar::I32, Scalar::U32, Scalar::Bool] {
        let words: Vec<u32> = random(70_001).collect();
        one("random bits", scalar, &words);
        let halves: Vec<u32> = random(9_999).map(|word| word & 1).collect();
        one("coins", scalar, &halves);
    }
    let falling: Vec<f32> = (0..20_000).map(|i| 1e3 - i as f32 / 7.0).collect();
    floats("sorted", &falling);
}

#[test]
fn special_columns_are_as_on_the_host() {
    let (inf, nan, tiny) = (f32::INFINITY, f32::NAN, f32::from_bits(1));
    floats("equal", &[0.1; 65_537]);
    floats("NaN alone", &[nan; 1000]);
    floats("NaNs of both signs", &[nan, -nan, 1.0, 2.0, -3.5, -nan]);
    let least_nans = [0x7f80_0001, 0xff80_0001].map(f32::from_bits);
    floats(
        "NaNs next to infinity",
        &[least_nans[0], inf, least_nans[1]],
    );
    floats("infinite", &[inf; 3]);
    floats("one infinite", &[1.0, 2.0, -inf, 4.0, nan]);
    floats("infinite on both sides", &[inf, 1.0, -inf, 2.0, inf]);
    floats("zeros", &[0.0, -0.0, 0.0, -0.0, -0.0]);
    floats("negative zero", &[-0.0; 4]);
    floats("subnormal", &[tiny, -tiny, 3.0 * tiny, 1e-40, 2e-39, 0.0]);
    floats("equal subnormal", &[1e-41; 5000]);
    floats("huge", &[1e38, 3e38, -2e38, f32::MAX, f32::MIN, f32::MAX]);
    floats("equal and huge", &[f32::MAX; 4097]);
    floats("tiny and huge", &[1e-38, 1e38, -1e-38, 1.0, -1e38]);
    floats("one value", &[-2.5]);
    floats("two values", &[3.0, -4.0]);
    for count in 1..20 {
        floats("few", &normals(count));
    }
    let (least, most) = (i32::MIN as u32, i32::MAX as u32);
    one("i32", Scalar::I32, &[least, most, 0, u32::MAX, least, 5, 1]);
    one("least", Scalar::I32, &[least; 70_000]);
    one("u32", Scalar::U32, &[0, u32::MAX, 1, least, most, u32::MAX]);
    one("most", Scalar::U32, &[u32::MAX; 70_000]);
    one("bool", Scalar::Bool, &[1, 0, 1, 1, 0]);
}

#[test]
fn elements_of_many_outputs_are_kept_apart() {
    let agents = 5003_usize;
    let fields = [
        field(Scalar::F32, 0, 1),
        field(Scalar::I32, 1, 3),
        field(Scalar::F32, 4, MOST_ROWS + 1),
        field(Scalar::Bool, 5 + MOST_ROWS, 2),
    ];
    let width = 7 + MOST_ROWS as usize;
    let mut words: Vec<u32> = normals(agents * width)
        .iter()
        .map(|x| x.to_bits())
        .collect();
    for (at, word) in words.iter_mut().enumerate().skip(agents * (width - 2)) {
        *word = u32::from(at % 3 == 0);
    }
    let Some(found) = reduce(&fields, &words, &vec![0; agents], 0) else {
        return;
    };
    let found = found.expect("all step counts are right");
    for (field, found) in fields.iter().zip(&found.outputs) {
        let width = field.words() as usize;
        let mut rows = vec![0; agents * width];
        let words = &words[field.word as usize * agents..];
        crate::gpu::readback::transpose(width, words, agents, &mut rows);
        let host = Values::new(field, agents as u32, rows).statistics();
        assert_eq!(found.len(), host.len(), "{}", field.name);
        for (device, host) in found.iter().zip(&host) {
            same(&field.name, device, host);
        }
    }
}

#[test]
fn step_counts_are_summed_and_checked() {
    let agents = 150_000;
    let fields = [field(Scalar::F32, 0, 1)];
    let words = vec![0; agents];
    let steps = CUT_SHORT - 1;
    let mut progress = vec![steps; agents];
    progress[70_000..].fill(STOPPED | 12_345_678);
    let reduced = |progress: &[u32]| reduce(&fields, &words, progress, steps);
    let Some(found) = reduced(&progress) else {
        return;
    };
    let found = found.expect("all step counts are right");
    assert_eq!(
        found.agent_steps,
        70_000 * u64::from(steps) + 80_000 * 12_345_678
    );
    assert_eq!(found.stopped, 80_000);
    for (agent, word) in [(149_999, 3), (80_000, STOPPED | CUT_SHORT), (0, steps - 1)] {
        progress[agent] = word;
        let found = reduced(&progress).expect("there is an adapter");
        let agent = agent as u32;
        assert_eq!(found.err(), Some(Fault { agent, word }));
    }
    let found = reduce(&fields, &[0, 0, 0], &[8, STOPPED | 8, STOPPED | 9], 8);
    let word = STOPPED | 9;
    let found = found.expect("there is an adapter");
    assert_eq!(found.err(), Some(Fault { agent: 2, word }));
}

#[test]
fn sums_are_exact_where_floats_cancel() {
    let mut values = vec![1e30_f32, 1.0, -1e30, f32::from_bits(1)];
    values.resize(8, 0.0);
    let words: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
    let Some(found) = reduce(&[field(Scalar::F32, 0, 1)], &words, &[1; 8], 1) else {
        return;
    };
    let found = found.expect("all step counts are right");
    assert_eq!(found.outputs[0][0].mean, Some(0.125));
    assert_eq!(Statistics::of(&F32(values), 0, 1).mean, Some(0.125));
}
