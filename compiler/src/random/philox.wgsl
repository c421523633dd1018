// A draw is a function of (seed, agent, step, n) and of nothing else.
// Philox4x32-10: the key is the seed, the counter is (n / 4, step, agent, 0).

fn agent_key(seed: vec2<u32>, agent: u32) -> vec4<u32> {
    return vec4<u32>(seed, agent, 0u);
}

fn step_key(key: vec4<u32>, step: u32) -> vec4<u32> {
    return vec4<u32>(key.xyz, step);
}

// Word number n of a step: word n % 4 of a block after ten rounds.
fn random_word(key: vec4<u32>, n: u32) -> u32 {
    let weyl = vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
    var x = vec4<u32>(n / 4u, key.w, key.z, 0u);
    x = random_round(x, key.xy);
    x = random_round(x, key.xy + weyl);
    x = random_round(x, key.xy + 2u * weyl);
    x = random_round(x, key.xy + 3u * weyl);
    x = random_round(x, key.xy + 4u * weyl);
    x = random_round(x, key.xy + 5u * weyl);
    x = random_round(x, key.xy + 6u * weyl);
    x = random_round(x, key.xy + 7u * weyl);
    x = random_round(x, key.xy + 8u * weyl);
    x = random_round(x, key.xy + 9u * weyl);
    return x[n % 4u];
}

// One round: two 32-bit products, whose high words come from 16-bit halves.
fn random_round(x: vec4<u32>, key: vec2<u32>) -> vec4<u32> {
    let multiplier = vec2<u32>(0xd2511f53u, 0xcd9e8d57u);
    let a_low = x.xz & vec2<u32>(0xffffu);
    let a_high = x.xz >> vec2<u32>(16u);
    let b_low = multiplier & vec2<u32>(0xffffu);
    let b_high = multiplier >> vec2<u32>(16u);
    let middle = a_high * b_low + ((a_low * b_low) >> vec2<u32>(16u));
    let carry = a_low * b_high + (middle & vec2<u32>(0xffffu));
    let high = a_high * b_high + (middle >> vec2<u32>(16u)) + (carry >> vec2<u32>(16u));
    let low = x.xz * multiplier;
    return vec4<u32>(high.y ^ x.y ^ key.x, low.y, high.x ^ x.w ^ key.y, low.x);
}
