//! Texts are examined in worker processes, so that a text that hangs, overflows the stack or eats all
//! memory ends its worker and nothing else. A worker is the program `sim-oracle worker`: it reads texts
//! on its standard input, each after a line with its length, and says on its standard output what it
//! does:
//!
//! ```text
//! stage compile            before each stage
//! fault panic at …         what is wrong with the compiler
//! done Ran 12 3 compile    how far the text got, ms of processor time, peak of MB, slowest stage
//! ```

use crate::examine::{End, examine};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Bytes of memory that a text may take.
pub const MEMORY: usize = 500_000_000;

/// Processor time that a text may take, in milliseconds; unoptimised builds have several times as much.
pub const TIME: u64 = if cfg!(debug_assertions) { 6_000 } else { 1_000 };

/// After so long a worker is ended whatever the machine is busy with.
const PATIENCE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 180 } else { 20 });

/// What became of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// A message or a result, in time.
    Good(End),
    /// The compiler is at fault: what texts with the same fault have in common, and all that is known.
    Fault {
        /// The same for texts that show the same fault.
        signature: String,
        /// All that is known.
        report: String,
    },
}

/// A process that examines texts.
pub struct Worker {
    program: std::path::PathBuf,
    running: Option<Running>,
}

struct Running {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    errors: std::thread::JoinHandle<String>,
}

impl Worker {
    /// A worker of that program; it starts with its first text.
    pub fn new(program: impl Into<std::path::PathBuf>) -> Worker {
        Worker {
            program: program.into(),
            running: None,
        }
    }

    /// Examines a text.
    ///
    /// # Errors
    /// A worker that cannot be started.
    pub fn examine(&mut self, text: &str) -> std::io::Result<Verdict> {
        let mut running = match self.running.take() {
            Some(running) => running,
            None => start(&self.program)?,
        };
        let sent =
            write!(running.input, "{}\n{text}", text.len()).and_then(|()| running.input.flush());
        let begin = Instant::now();
        let (mut stage, mut fault) = ("start".to_owned(), None);
        let mut ended = sent.is_err();
        while !ended {
            let left = PATIENCE.saturating_sub(begin.elapsed());
            let line = match running.lines.recv_timeout(left) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => {
                    end(running);
                    let signature = format!("{stage}: no end");
                    let report = format!("{signature} within {PATIENCE:?}");
                    return Ok(Verdict::Fault { signature, report });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    ended = true;
                    continue;
                }
            };
            match line.split_once(' ') {
                Some(("stage", name)) => stage = name.to_owned(),
                Some(("fault", what)) => fault = Some(what.to_owned()),
                Some(("done", numbers)) => {
                    self.running = Some(running);
                    return Ok(verdict(fault, numbers));
                }
                _ => {}
            }
        }
        let report = end(running);
        let signature = format!("{stage}: {}", crash(&report));
        let report = format!("{signature}\n{report}");
        Ok(Verdict::Fault { signature, report })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            end(running);
        }
    }
}

fn start(program: &std::path::Path) -> std::io::Result<Running> {
    let mut child = Command::new(program)
        .arg("worker")
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let piped = || std::io::Error::other("a worker without pipes");
    let input = child.stdin.take().ok_or_else(piped)?;
    let output = child.stdout.take().ok_or_else(piped)?;
    let mut errors = child.stderr.take().ok_or_else(piped)?;
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let errors = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = errors.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    Ok(Running {
        child,
        input,
        lines,
        errors,
    })
}

/// Ends a worker; gives how it ended and what it said.
fn end(mut running: Running) -> String {
    let _ = running.child.kill();
    let status = running.child.wait();
    let said = running.errors.join().unwrap_or_default();
    let status = status.map_or("unknown".to_owned(), |status| status.to_string());
    format!("{status}: {}", said.trim())
}

fn crash(report: &str) -> &'static str {
    if report.contains("overflowed its stack") {
        "stack overflow"
    } else if report.contains("memory allocation of") {
        "out of memory"
    } else {
        "crash"
    }
}

fn verdict(fault: Option<String>, numbers: &str) -> Verdict {
    let mut numbers = numbers.split(' ');
    let end = numbers.next().unwrap_or_default();
    let mut number = || numbers.next().and_then(|text| text.parse::<u64>().ok());
    let (time, peak) = (number().unwrap_or(0), number().unwrap_or(0));
    let slowest = numbers.next().unwrap_or("start");
    let late = (time > TIME).then(|| format!("{slowest}: slow"));
    match fault.or(late) {
        Some(signature) => Verdict::Fault {
            report: format!("{signature} ({time} ms, {peak} MB)"),
            signature: general(&signature),
        },
        None => Verdict::Good(match end {
            "Refused" => End::Refused,
            "NotLaunched" => End::NotLaunched,
            "Cancelled" => End::Cancelled,
            _ => End::Ran,
        }),
    }
}

/// A fault without what is particular of a text or of a version: names in quotes, and numbers.
fn general(fault: &str) -> String {
    let fault: String = fault.chars().take(200).collect();
    let mut general = String::new();
    for (k, piece) in fault.split('`').enumerate() {
        let name = if k % 2 == 1 { "…" } else { piece };
        general.extend(name.chars().filter(|c| !c.is_ascii_digit()));
    }
    general
}

/// Where the last panic was, and what it said.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Where the last panic was and what it said, if [`note_panics`] was called before.
pub fn last_panic() -> String {
    PANIC.lock().map(|last| last.clone()).unwrap_or_default()
}

/// From now on panics print nothing and are kept for [`last_panic`].
pub fn note_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or(String::new(), |place| {
            format!("{}:{}", place.file(), place.line())
        });
        let text = panic.payload_as_str().unwrap_or("").replace('\n', " ");
        let text: String = text.chars().take(300).collect();
        if let Ok(mut last) = PANIC.lock() {
            *last = format!("panic at {place} | {text}");
        }
    }));
}

/// The life of a worker: examines what comes on `input` until it ends. `reset` forgets the peak of
/// memory, `peak` gives it in bytes.
///
/// # Errors
/// A parent that does not follow the protocol, or has gone.
pub fn work(reset: impl Fn(), peak: impl Fn() -> usize) -> std::io::Result<()> {
    note_panics();
    let mut input = std::io::stdin().lock();
    let say = |line: String| {
        let mut output = std::io::stdout().lock();
        let _ = writeln!(output, "{line}").and_then(|()| output.flush());
    };
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let length: usize = line.trim().parse().map_err(std::io::Error::other)?;
        let mut bytes = vec![0; length];
        input.read_exact(&mut bytes)?;
        let text = String::from_utf8(bytes).map_err(std::io::Error::other)?;
        line.clear();
        reset();
        let begin = processor_milliseconds();
        let times = Mutex::new(vec![("start", begin)]);
        let note = |stage| {
            say(format!("stage {stage}"));
            if let Ok(mut times) = times.lock() {
                times.push((stage, processor_milliseconds()));
            }
        };
        let found = std::panic::catch_unwind(|| examine(&text, note));
        let end_time = processor_milliseconds();
        let spent = end_time - begin;
        let times = times.into_inner().unwrap_or_default();
        let slowest = slowest(&times, end_time);
        let end = match found {
            Ok(Ok(end)) => end,
            Ok(Err(fault)) => {
                say(format!("fault {}", fault.replace('\n', " ")));
                End::Refused
            }
            Err(_) => {
                say(format!("fault {}", last_panic()));
                End::Refused
            }
        };
        let peak = peak() / 1_000_000;
        say(format!("done {end:?} {spent:.0} {peak} {slowest}"));
    }
    Ok(())
}

/// The stage that took longest, of stages with the times of their beginnings.
fn slowest(times: &[(&'static str, f64)], end: f64) -> &'static str {
    let later = times.get(1..).unwrap_or_default();
    let ends = later.iter().map(|next| next.1).chain([end]);
    let spent = times
        .iter()
        .zip(ends)
        .map(|((stage, begin), end)| (*stage, end - begin));
    spent
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map_or("start", |stage| stage.0)
}

/// Processor time of this thread, or the time on the clock where the system does not say.
fn processor_milliseconds() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = spent.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    match spent {
        Some(nanoseconds) => nanoseconds / 1e6,
        None => START.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e3,
    }
}
