//! Writes one order of the generator's words to standard output as raw
//! little-endian bytes, for the test batteries. It ends when the reader does.
//!
//! `random_stream ORDER [GENERATOR] [SEED]`; without arguments it lists the orders.

use std::io::{self, Write};
use std::process::ExitCode;

use sim_compiler::random::{Generator, Key};

/// Words of one step in the orders that take several.
const WORDS_PER_STEP: u32 = 8;
/// Agents of the population in the orders that run across agents.
const AGENTS: u32 = 1 << 16;

/// Name, what varies fastest, and the function that writes it.
type Order = (
    &'static str,
    &'static str,
    fn(&mut Stream) -> io::Result<()>,
);

const ORDERS: &[Order] = &[
    ("agent", "one agent: 8 words a step, step after step", agent),
    ("steps", "one agent: word 0 of each step", steps),
    (
        "agents",
        "65,536 agents: word 0 of all, word 1 of all, next step",
        agents,
    ),
    (
        "agent-pairs",
        "words 0 and 1 of one agent after the other, step 0",
        agent_pairs,
    ),
    ("seeds", "words 0 and 1 of one seed after the other", seeds),
    (
        "seeds-high",
        "the same, counting in the high half of the seed",
        seeds_high,
    ),
    ("long-step", "one step: all its words", long_step),
    (
        "two-agents",
        "two neighbouring agents, interleaved",
        two_agents,
    ),
    (
        "two-seeds",
        "two neighbouring seeds, interleaved",
        two_seeds,
    ),
    (
        "k0-plus-1",
        "two keys, k0 and k0 + 1, interleaved",
        k0_plus_1,
    ),
    (
        "k1-plus-1",
        "two keys, k1 and k1 + 1, interleaved",
        k1_plus_1,
    ),
    (
        "k0-top-bit",
        "two keys that differ in bit 31 of k0",
        k0_top_bit,
    ),
    (
        "k1-top-bit",
        "two keys that differ in bit 31 of k1",
        k1_top_bit,
    ),
    (
        "k0-bits",
        "a key and its 32 neighbours by one bit of k0",
        k0_bits,
    ),
    (
        "k1-bits",
        "a key and its 32 neighbours by one bit of k1",
        k1_bits,
    ),
    (
        "k0-counter",
        "4 words of each key, k1 fixed, k0 counting",
        k0_counter,
    ),
    (
        "k1-counter",
        "4 words of each key, k0 fixed, k1 counting",
        k1_counter,
    ),
];

/// The generator under test, and where its words go.
struct Stream {
    generator: Generator,
    seed: u64,
    reversed: bool,
    out: io::BufWriter<io::Stdout>,
}

impl Stream {
    fn put(&mut self, word: u32) -> io::Result<()> {
        let word = if self.reversed {
            word.reverse_bits()
        } else {
            word
        };
        self.out.write_all(&word.to_le_bytes())
    }

    /// Word `n` of each key in turn, for all `n`.
    fn interleave(&mut self, keys: &[Key]) -> io::Result<()> {
        for n in 0..=u32::MAX {
            for &key in keys {
                let word = self.generator.word(key, n);
                self.put(word)?;
            }
        }
        Ok(())
    }

    /// Agent 0's key of step 0 with one of its words changed.
    fn key_with(&self, half: usize, change: impl Fn(u32) -> u32) -> Key {
        let agent_key = self.generator.agent_key(self.seed, 0);
        let mut key = self.generator.step_key(agent_key, 0);
        key[half] = change(key[half]);
        key
    }

    fn neighbours_by_one_bit(&mut self, half: usize) -> io::Result<()> {
        let mut keys = vec![self.key_with(half, |k| k)];
        keys.extend((0..32).map(|bit| self.key_with(half, |k| k ^ (1 << bit))));
        self.interleave(&keys)
    }

    fn counting_keys(&mut self, half: usize) -> io::Result<()> {
        for counter in 0..=u32::MAX {
            let key = self.key_with(half, |_| counter);
            for n in 0..4 {
                let word = self.generator.word(key, n);
                self.put(word)?;
            }
        }
        Ok(())
    }
}

fn agent(stream: &mut Stream) -> io::Result<()> {
    let generator = stream.generator;
    let agent_key = generator.agent_key(stream.seed, 0);
    for step in 0..=u32::MAX {
        let key = generator.step_key(agent_key, step);
        for n in 0..WORDS_PER_STEP {
            stream.put(generator.word(key, n))?;
        }
    }
    Ok(())
}

fn steps(stream: &mut Stream) -> io::Result<()> {
    let generator = stream.generator;
    let agent_key = generator.agent_key(stream.seed, 0);
    for step in 0..=u32::MAX {
        stream.put(generator.word(generator.step_key(agent_key, step), 0))?;
    }
    Ok(())
}

fn agents(stream: &mut Stream) -> io::Result<()> {
    let (generator, seed) = (stream.generator, stream.seed);
    let agent_keys: Vec<Key> = (0..AGENTS)
        .map(|agent| generator.agent_key(seed, agent))
        .collect();
    for step in 0..=u32::MAX {
        for n in 0..2 {
            for &key in &agent_keys {
                stream.put(generator.word(generator.step_key(key, step), n))?;
            }
        }
    }
    Ok(())
}

fn agent_pairs(stream: &mut Stream) -> io::Result<()> {
    for agent in 0..=u32::MAX {
        for n in 0..2 {
            stream.put(stream.generator.draw(stream.seed, agent, 0, n))?;
        }
    }
    Ok(())
}

fn count_seeds(stream: &mut Stream, shift: u32) -> io::Result<()> {
    for i in 0..=u64::from(u32::MAX) {
        let seed = stream.seed.wrapping_add(i << shift);
        for n in 0..2 {
            stream.put(stream.generator.draw(seed, 0, 0, n))?;
        }
    }
    Ok(())
}

fn seeds(stream: &mut Stream) -> io::Result<()> {
    count_seeds(stream, 0)
}

fn seeds_high(stream: &mut Stream) -> io::Result<()> {
    count_seeds(stream, 32)
}

fn long_step(stream: &mut Stream) -> io::Result<()> {
    let key = stream.key_with(0, |k| k);
    stream.interleave(&[key])
}

/// Two streams, 8 words a step, interleaved word by word.
fn two_streams(stream: &mut Stream, streams: [(u64, u32); 2]) -> io::Result<()> {
    let generator = stream.generator;
    let agent_keys = streams.map(|(seed, agent)| generator.agent_key(seed, agent));
    for step in 0..=u32::MAX {
        let keys = agent_keys.map(|key| generator.step_key(key, step));
        for n in 0..WORDS_PER_STEP {
            for key in keys {
                stream.put(generator.word(key, n))?;
            }
        }
    }
    Ok(())
}

fn two_agents(stream: &mut Stream) -> io::Result<()> {
    two_streams(stream, [(stream.seed, 0), (stream.seed, 1)])
}

fn two_seeds(stream: &mut Stream) -> io::Result<()> {
    two_streams(stream, [(stream.seed, 0), (stream.seed.wrapping_add(1), 0)])
}

fn two_keys(stream: &mut Stream, half: usize, change: fn(u32) -> u32) -> io::Result<()> {
    let keys = [stream.key_with(half, |k| k), stream.key_with(half, change)];
    stream.interleave(&keys)
}

fn k0_plus_1(stream: &mut Stream) -> io::Result<()> {
    two_keys(stream, 0, |k| k.wrapping_add(1))
}

fn k1_plus_1(stream: &mut Stream) -> io::Result<()> {
    two_keys(stream, 1, |k| k.wrapping_add(1))
}

fn k0_top_bit(stream: &mut Stream) -> io::Result<()> {
    two_keys(stream, 0, |k| k ^ (1 << 31))
}

fn k1_top_bit(stream: &mut Stream) -> io::Result<()> {
    two_keys(stream, 1, |k| k ^ (1 << 31))
}

fn k0_bits(stream: &mut Stream) -> io::Result<()> {
    stream.neighbours_by_one_bit(0)
}

fn k1_bits(stream: &mut Stream) -> io::Result<()> {
    stream.neighbours_by_one_bit(1)
}

fn k0_counter(stream: &mut Stream) -> io::Result<()> {
    stream.counting_keys(0)
}

fn k1_counter(stream: &mut Stream) -> io::Result<()> {
    stream.counting_keys(1)
}

fn usage() -> ExitCode {
    eprintln!("random_stream ORDER[-reversed] [keyed-hash|philox] [SEED]\n\norders:");
    for (name, what, _) in ORDERS {
        eprintln!("  {name:<12} {what}");
    }
    eprintln!(
        "\n`-reversed` writes each word's bits backwards. The k0 and k1 orders are for keyed-hash."
    );
    ExitCode::FAILURE
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(order) = arguments.first() else {
        return usage();
    };
    let (name, reversed) = match order.strip_suffix("-reversed") {
        Some(name) => (name, true),
        None => (order.as_str(), false),
    };
    let generator = match arguments.get(1).map_or("keyed-hash", String::as_str) {
        "keyed-hash" => Generator::KeyedHash,
        "philox" => Generator::Philox4x32,
        _ => return usage(),
    };
    let Ok(seed) = arguments.get(2).map_or("1", String::as_str).parse() else {
        return usage();
    };
    let Some((_, _, write)) = ORDERS.iter().find(|(known, _, _)| *known == name) else {
        return usage();
    };
    let mut stream = Stream {
        generator,
        seed,
        reversed,
        out: io::BufWriter::with_capacity(1 << 16, io::stdout()),
    };
    match write(&mut stream).and_then(|()| stream.out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // The battery has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("random_stream: {error}");
            ExitCode::FAILURE
        }
    }
}
