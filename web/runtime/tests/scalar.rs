//! Loops written by hand over one agent at a time, for WebAssembly: what the CPU backend is compared with.
//! `scripts/web/bench.sh` compiles it, without vector instructions.

/// Paths of geometric Brownian motion, with normal numbers by Box and Muller; the sum of the last prices.
#[unsafe(no_mangle)]
pub extern "C" fn gbm(count: u32, steps: u32) -> f32 {
    let mut state = 12345_u32;
    let mut uniform = || {
        state = state.wrapping_add(0x6d2b_79f5);
        let mut t = (state ^ (state >> 15)).wrapping_mul(1 | state);
        t ^= t.wrapping_add((t ^ (t >> 7)).wrapping_mul(61 | t));
        ((t ^ (t >> 14)) >> 8) as f32 / 16_777_216.0
    };
    let (dt, sigma, rate) = (1.0 / 252.0_f32, 0.2_f32, 0.05_f32);
    let (drift, spread) = ((rate - 0.5 * sigma * sigma) * dt, sigma * dt.sqrt());
    let mut sum = 0.0;
    for _ in 0..count {
        let (mut price, mut spare) = (100.0_f32, None);
        for _ in 0..steps {
            let normal = spare.take().unwrap_or_else(|| {
                let radius = (-2.0 * (1.0 - uniform()).ln()).sqrt();
                let (sin, cos) = (std::f32::consts::TAU * uniform()).sin_cos();
                spare = Some(radius * sin);
                radius * cos
            });
            price *= (drift + spread * normal).exp();
        }
        sum += price;
    }
    sum
}

/// The Lorenz system by Runge-Kutta; the sum of the last `x`.
#[unsafe(no_mangle)]
pub extern "C" fn lorenz(count: u32, steps: u32) -> f32 {
    let slope = |[x, y, z]: [f32; 3]| [10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z];
    let moved = |s: [f32; 3], h: f32, k: [f32; 3]| [0, 1, 2].map(|i| s[i] + h * k[i]);
    let h = 0.01;
    let mut sum = 0.0;
    for agent in 0..count {
        let mut s = [1.0 + agent as f32 * 1e-6, 1.0, 1.0];
        for _ in 0..steps {
            let a = slope(s);
            let b = slope(moved(s, h / 2.0, a));
            let c = slope(moved(s, h / 2.0, b));
            let d = slope(moved(s, h, c));
            s = moved(
                s,
                h / 6.0,
                [0, 1, 2].map(|i| a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]),
            );
        }
        sum += s[0];
    }
    sum
}
