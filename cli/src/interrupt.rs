//! Ctrl-C: the first press asks the run to end, the second ends the process.

use std::{
    process,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

static PRESSED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C sets the flag that this gives, instead of ending the process.
pub(crate) fn flag() -> &'static AtomicBool {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // Without a handler Ctrl-C still ends the process, only less politely.
        let _ = ctrlc::set_handler(|| {
            if PRESSED.swap(true, Ordering::Relaxed) {
                process::exit(130);
            }
        });
    });
    &PRESSED
}
