// A draw is a function of (seed, agent, step, n) and of nothing else.

// The key of an agent's stream: four Feistel rounds, so no two agents share one.
fn agent_key(seed: vec2<u32>, agent: u32) -> vec2<u32> {
    let weyl = vec2<u32>(0xc13fa9a9u, 0x91e10da5u);
    var k0 = agent;
    var k1 = random_word(seed, k0);
    k0 ^= random_word(seed + weyl, k1);
    k1 ^= random_word(seed + 2u * weyl, k0);
    k0 ^= random_word(seed + 3u * weyl, k1);
    return vec2<u32>(k0, k1);
}

// The key of one step within an agent's stream.
fn step_key(key: vec2<u32>, step: u32) -> vec2<u32> {
    let x = step * 0xc13fa9a9u + key.x;
    return vec2<u32>((x ^ (x >> 16u)) * 0x21f0aaadu + key.y, step * 0x91e10da5u + key.y);
}

// Word number n of a step: two rounds of xorshift and the permutation x (2 x + c).
fn random_word(key: vec2<u32>, n: u32) -> u32 {
    var x = (n * 0x9e3779b9u + key.x) ^ key.y;
    x ^= x >> 17u;
    x = x * (2u * x + 0x21f0aaadu) + key.y;
    x ^= x >> 16u;
    x = x * (2u * x + 0xd35a2d97u);
    return x ^ (x >> 17u);
}
