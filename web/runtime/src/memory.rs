//! The allocator, which remembers that it failed. A module that cannot allocate ends without a message, and
//! its host wants to know why.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicBool, Ordering},
};
use wasm_bindgen::prelude::wasm_bindgen;

struct Remembering;

#[global_allocator]
static ALLOCATOR: Remembering = Remembering;

static FAILED: AtomicBool = AtomicBool::new(false);

/// Whether the module has ended for lack of memory, if it has ended.
#[wasm_bindgen(js_name = outOfMemory)]
pub fn out_of_memory() -> bool {
    FAILED.load(Ordering::Relaxed)
}

fn seen(allocated: *mut u8) -> *mut u8 {
    FAILED.store(allocated.is_null(), Ordering::Relaxed);
    allocated
}

// SAFETY: the system's allocator, which has the same contract, is given what was given.
unsafe impl GlobalAlloc for Remembering {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        seen(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        seen(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        seen(unsafe { System.realloc(old, layout, size) })
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        unsafe { System.dealloc(old, layout) }
    }
}
