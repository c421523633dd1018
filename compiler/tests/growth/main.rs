//! Compiling takes time and memory in proportion to the text and to the constants that the limits allow: each
//! shape is compiled at two sizes, and what the larger one takes is compared with the smaller one. What was
//! allocated is counted to the byte; time is compared generously, and again if in doubt.

mod shapes;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

use sim_compiler::Options;

/// The size of the larger text relative to the smaller one. Quadratic growth takes 64 times as much.
const FACTOR: usize = 8;
/// A ratio that is still in proportion: tables double their capacity as they grow.
const PROPORTION: usize = 16;
/// What a small model takes anyway.
const BASE_BYTES: usize = 4 << 20;
const BASE_TIME: Duration = Duration::from_millis(20);
/// No text may take more, whatever it says.
const MOST_BYTES: usize = 500 << 20;

/// Seconds in a release build; here without optimisation, and with others on the processor.
const MOST_TIME: Duration = Duration::from_secs(20);

/// The system's allocator, counted.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static TOTAL: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all calls go to the system's allocator as they are.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TOTAL.fetch_add(layout.size(), Relaxed);
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a text took.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// Bytes of all allocations.
    bytes: usize,
    /// Bytes at one time.
    peak: usize,
    time: Duration,
}

/// Everything that `simc` and an editor do with a text: its kernel or its report, and its names.
fn cost(text: &str, checks: bool) -> Cost {
    let (total, live) = (TOTAL.load(Relaxed), LIVE.load(Relaxed));
    PEAK.store(live, Relaxed);
    let start = Instant::now();
    let options = Options {
        checks,
        ..Options::default()
    };
    match sim_compiler::compile_with(text, options) {
        Ok(artifact) => drop(artifact.wgsl()),
        Err(found) => {
            use sim_compiler::diagnostic::render::render;
            drop(render("model.sim", text, &found, Default::default()));
        }
    }
    drop(sim_compiler::survey(text));
    Cost {
        time: start.elapsed(),
        bytes: TOTAL.load(Relaxed) - total,
        peak: PEAK.load(Relaxed) - live,
    }
}

/// What is out of proportion about a shape, if anything.
fn complaint(shape: &shapes::Shape, checks: bool) -> Option<String> {
    let texts = [shape.size, shape.size * FACTOR].map(shape.text);
    let cost = |text: &str| cost(text, checks);
    let [small, large] = [cost(&texts[0]), cost(&texts[1])];
    if large.peak > MOST_BYTES {
        return Some(format!("{} MB at one time", large.peak >> 20));
    }
    if large.bytes > PROPORTION * small.bytes + BASE_BYTES {
        return Some(format!("{} and then {} bytes", small.bytes, large.bytes));
    }
    let (mut least, mut most) = (small.time, large.time);
    for _ in 0..4 {
        if most <= PROPORTION as u32 * least.max(BASE_TIME) {
            return None;
        }
        // Another program may have had the processor: the fastest of several counts.
        least = least.max(cost(&texts[0]).time);
        most = most.min(cost(&texts[1]).time);
    }
    Some(format!("{least:?} and then {most:?}"))
}

/// One test, since what it counts is the whole process's.
#[test]
fn costs_are_in_proportion_to_the_text() {
    let mut complaints = Vec::new();
    for checks in [false, true] {
        let with = if checks { " with checks" } else { "" };
        for shape in shapes::SHAPES {
            if let Some(what) = complaint(shape, checks) {
                complaints.push(format!("{}{with}: {what}", shape.name));
            }
        }
        for (name, text) in shapes::bombs() {
            let cost = cost(&text, checks);
            if cost.peak > MOST_BYTES || cost.time > MOST_TIME {
                let (peak, time) = (cost.peak >> 20, cost.time);
                complaints.push(format!("{name}{with}: {peak} MB, {time:?}"));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
