//! Models in which derivatives go wrong.

/// What is said of it, the model, and what derivatives are taken by.
pub(crate) type Model = (&'static str, &'static str, &'static [&'static str]);

/// Models whose derivatives by these params finite differences of runs in `f32` tell, too. All outputs are
/// floats, and depend on all of the params.
pub(crate) const SMOOTH: &[Model] = &[
    (
        "a value that is read twice, and overwritten",
        "agents 3 steps 5 param a = 0.7 state x = a
         step { x = x * x + a * x let y = x x = y - a * y * x } output x",
        &["a"],
    ),
    (
        "elements at computed places, swizzles and vectors",
        "agents 7 steps 4 param a = 0.3 param v = vec3(0.5, -0.2, 0.9)
         state w = [a, a * a, 1.0, 2.0 + a] state q = v
         step t {
             w[(agent + t) % 4] = w[(agent + 2 * t + 1) % 4] * a + q.y
             q.zx = q.xy * w[t % 4] + vec2(a, 1.0)
             q = q / (2.0 + dot(q, q)) + normalize(q) * 0.1 + cross(q, v) * a
         }
         output x = w[agent % 4] + length(q) + distance(q, v)",
        &["a", "v"],
    ),
    (
        "a function with branches, early returns and params",
        "agents 9 steps 3 param a = 0.4 param b = 1.3
         fn inner(x: f32) -> f32 { return b * sin(x) + x }
         fn bent(x: f32, n: i32) -> f32 {
             if n > 4 { return a * x * x }
             var s = x
             for k in 0..n { if k == 3 { break } s = s * 0.9 + inner(s) * a }
             return s
         }
         state x = 0.1
         step { x += 0.2 * bent(x + b, agent) } output x",
        &["a", "b"],
    ),
    (
        "a stop, a while and states that only one branch assigns",
        "agents 6 steps 8 param a = 0.9 state x = 1.0 + 0.1 * f32(agent) state y = 0.0
         step t {
             if t == agent { stop }
             if agent % 2 == 0 { x = x * a } else { y = y + a * x }
             while x < 0.8 limit 5 { x += 0.25 * a }
         } output z = x + y * y",
        &["a"],
    ),
    (
        "a stop within a loop, behind assignments",
        "agents 6 steps 8 param a = 0.9 state x = 1.0 + 0.1 * f32(agent)
         step t {
             x = x * a
             for k in 0..4 { x = x * x + 0.1 * a if t + k == agent { stop } x = sin(x) }
             x = x + a * a
         } output x",
        &["a"],
    ),
    (
        "the equations of Lotka and Volterra",
        "agents 1 steps 200 param alpha = 1.5 param beta = 1.0 param prey0 = 1.2
         state prey = prey0 state hunter = 0.8
         step { integrate rk4(0.02) {
             prey' = alpha * prey - beta * prey * hunter
             hunter' = -3.0 * hunter + prey * hunter
         } } output x = prey output y = hunter",
        &["alpha", "beta", "prey0"],
    ),
    (
        "draws",
        "agents 50 steps 3 param a = 0.4 param b = 1.7 state x = a
         step { x += a * normal(b, a) + uniform(a, b) + exponential(b) + lognormal(a, 0.3) + laplace(a, b) }
         output x",
        &["a", "b"],
    ),
    (
        "functions of one argument",
        "agents 1 steps 1 param a = 0.37 state x = 0.0
         step {
             x = sin(a) + cos(a) * tan(a) + asin(a) * acos(a) + atan(a) + sinh(a) * cosh(a) + tanh(a)
             x += asinh(a) + acosh(1.0 + a) * atanh(a) + exp(a) * exp2(a) + log(a) + log2(a) * sqrt(a)
             x += inverseSqrt(a) + erf(a) * erfc(a) + sigmoid(a) * softplus(a) + relu(a) + fract(a)
             x += normal_cdf(a) + normal_quantile(a) + gamma(a) * lgamma(a) + abs(-a) + radians(degrees(a))
         } output x",
        &["a"],
    ),
    (
        "functions of several arguments, and vectors component by component",
        "agents 1 steps 1 param a = 0.37 param b = 1.4 state x = 0.0
         step {
             x = atan2(a, b) + pow(b, a) + a ** 3 + max(a, b) * min(a, b) + mix(a, b, a) + fma(a, b, a)
             x += clamp(a * b, 0.0, 2.0) + smoothstep(0.0, b, a) + select(a, b, a < b) + (b % a)
             let v = sin(vec3(a, b, a * b)) * exp(vec3(b)) + max(vec3(a), vec3(b, 0.1, 0.2))
             x += v.x * v.y + v.z
         } output x",
        &["a", "b"],
    ),
];

/// Loops, inputs and structs; all outputs are floats, and depend on all params and inputs.
#[allow(dead_code)] // Forward mode is held by the others alone.
pub(crate) const NESTED: &[Model] = &[
    (
        "loops in loops, whose values go from iteration to iteration",
        "agents 4 steps 3 param a = 0.6 param w = [0.3, -0.2, 0.5, 0.1, 0.7, -0.4]
         state x = 0.4 + 0.1 * f32(agent)
         step {
             var h = [0.0, 0.0, 0.0]
             for i in 0..3 {
                 var s = a
                 for j in 0..2 { s = s * 0.5 + w[i * 2 + j] * x }
                 h[i] = tanh(s)
             }
             for i in 0..3 { x = x * a + h[i] * h[(i + 1) % 3] }
             for i in 0..3 { h[i] = h[i] * h[(i + 1) % 3] x += sin(h[i]) }
         } output x",
        &["a", "w"],
    ),
    (
        "loops whose number of iterations depends on states",
        "agents 8 steps 4 param a = 0.8 state x = 0.3 + 0.2 * f32(agent) state n = agent
         step {
             for k in 0..n { x = x * a + sin(x) * 0.3 for m in k..n { x = x * 0.9 + 0.1 * sin(x * x) } }
             var y = x
             while y > 0.2 limit 3000 { y = y * 0.5 + 0.01 * a * y * y x += y * y }
             n = (n * 3 + 1) % 7
         } output x",
        &["a"],
    ),
    (
        "arrays that loops change, and conditions within them",
        "agents 5 steps 3 param a = 0.9 state u = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
         step t {
             for i in 1..7 { u[i] = u[i] + 0.1 * a * (u[i - 1] * u[i + 1] - 2.0 * u[i] * u[i]) }
             if agent % 2 == 0 {
                 for i in 0..8 {
                     if i == 5 { continue }
                     u[(i + t) % 8] = 0.5 * sin(u[i]) * u[(i + 3) % 8] + 0.1 * a
                     if u[i] > 0.5 { break }
                 }
             }
             for i in 0..4 { for j in 0..2 { u[i + j] = sin(u[i]) * u[i + 1 + j] + 0.1 } }
         } output x = u[0] + u[1] * u[2] + u[3] + u[5] * u[7]",
        &["a"],
    ),
    (
        "inputs and elements",
        "agents 3 steps 2 param w = [2.0, 3.0] input x0 = 1.5 + f32(agent) input v = vec2(0.5, f32(agent))
         state x = x0 step t { x = x * w[t] + dot(v, v) * x0 } output x output y = x * x + v.y",
        &["x0", "w", "v"],
    ),
    (
        "no step, and outputs of params alone",
        "agents 3 param a = 0.5 input b = 1.0 state x = a * a * b output x output y = a * x * b",
        &["a", "b"],
    ),
    (
        "structs, and lets within conditions",
        "agents 5 steps 3 struct P { at: vec2, mass: f32 } param p = P(vec2(0.3, 0.4), 2.0)
         state q = p
         step { if agent > 2 { let d = q.at * p.mass let e = d.x * d.y q.at = d * 0.1 + e
             q.mass = q.mass * e }
             else { let d = q.mass * q.mass q.at.y = d + q.at.x * q.at.y } }
         output x = q.at.x * q.at.y + q.mass + p.at.x",
        &["p"],
    ),
];
