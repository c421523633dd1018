// Made from the compiler's table of words: editors/README.md says how.

/** The words of the language by their role. */
export const WORDS = {
    declaration: [
        "agents", "const", "data", "enum", "fn", "input", "observe", "output", "param", "record",
        "state", "steps", "struct", "world",
    ],
    phase: ["finish", "init", "step"],
    sampling: ["every"],
    testing: ["expect", "from", "se", "seed", "test", "within"],
    binding: ["let", "var"],
    control: [
        "assert", "bitcast", "break", "continue", "else", "for", "if", "in", "integrate",
        "limit", "match", "return", "stop", "while",
    ],
    boolean: ["false", "true"],
    reserved: ["die", "near", "spawn"],
    type: ["bool", "f32", "i32", "u32", "vec2", "vec3", "vec4"],
    value: ["agent", "agents", "member", "steps", "world"],
    method: ["euler", "heun", "midpoint", "rk4"],
    function: [
        "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "clamp",
        "cos", "cosh", "countLeadingZeros", "countOneBits", "countTrailingZeros", "cross",
        "degrees", "distance", "dot", "erf", "erfc", "exp", "exp2", "exponential_from",
        "extractBits", "faceForward", "firstLeadingBit", "firstTrailingBit", "floor", "fma",
        "fract", "insertBits", "inverseSqrt", "ldexp", "length", "lgamma", "log", "log2", "max",
        "min", "mix", "mul_high", "normal_cdf", "normal_from", "normal_quantile", "normalize",
        "pow", "radians", "reflect", "refract", "relu", "reverseBits", "round", "saturate",
        "select", "sigmoid", "sign", "sin", "sinh", "smoothstep", "softplus", "sqrt", "step",
        "tan", "tanh", "trunc", "unit",
    ],
    fold: [
        "all", "any", "argmax", "argmin", "count", "histogram", "len", "mean", "product",
        "quantiles", "sd", "sum", "var",
    ],
    draw: [
        "bernoulli", "beta", "binomial", "categorical", "cauchy", "chi_squared", "exponential",
        "gamma", "geometric", "laplace", "lognormal", "normal", "poisson", "randint", "random",
        "student_t", "uniform",
    ],
};
