//! The border of the module: bytes in and out of its memory.
//!
//! A panic ends the instance (it cannot unwind in this build); the host makes a new one.

use std::sync::{Mutex, MutexGuard, PoisonError};

static REQUEST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static REPLY: Mutex<String> = Mutex::new(String::new());

fn held<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the host writes the next request, of so many bytes.
#[unsafe(no_mangle)]
extern "C" fn request(bytes: usize) -> *mut u8 {
    let mut request = held(&REQUEST);
    request.clear();
    request.resize(bytes, 0);
    request.as_mut_ptr()
}

/// Answers the request; how many bytes the reply has.
#[unsafe(no_mangle)]
extern "C" fn answer() -> usize {
    let request = std::mem::take(&mut *held(&REQUEST));
    let reply = crate::answer(&String::from_utf8_lossy(&request));
    let length = reply.len();
    *held(&REPLY) = reply;
    length
}

/// Where the reply is, until the next request.
#[unsafe(no_mangle)]
extern "C" fn reply() -> *const u8 {
    held(&REPLY).as_ptr()
}
