"""The words of the language by kind, from the compiler's table: ``editors/templates/words.py`` says
what stands here, and a test of the workspace keeps it so."""

# fmt: off

KEYWORDS = [
    "assert", "bitcast", "break", "continue", "else", "every", "for", "if", "in", "integrate",
    "let", "limit", "match", "return", "stop", "var", "while",
]
DECLARATIONS = [
    "agents", "const", "data", "enum", "fn", "input", "observe", "output", "param", "record",
    "state", "steps", "struct", "world",
]
PHASES = [
    "finish", "init", "step",
]
TESTING = [
    "expect", "from", "se", "seed", "test", "within",
]
BOOLEANS = [
    "false", "true",
]
RESERVED = [
    "die", "near", "spawn",
]
TYPES = [
    "bool", "f32", "i32", "u32", "vec2", "vec3", "vec4",
]
VALUES = [
    "agent", "agents", "member", "steps", "world",
]
METHODS = [
    "euler", "heun", "midpoint", "rk4",
]
FUNCTIONS = [
    "abs", "acos", "acosh", "all", "any", "argmax", "argmin", "asin", "asinh", "atan", "atan2",
    "atanh", "ceil", "clamp", "cos", "cosh", "count", "countLeadingZeros", "countOneBits",
    "countTrailingZeros", "cross", "degrees", "distance", "dot", "erf", "erfc", "exp", "exp2",
    "exponential_from", "extractBits", "faceForward", "firstLeadingBit", "firstTrailingBit",
    "floor", "fma", "fract", "histogram", "insertBits", "inverseSqrt", "ldexp", "len", "length",
    "lgamma", "log", "log2", "max", "mean", "min", "mix", "mul_high", "normal_cdf",
    "normal_from", "normal_quantile", "normalize", "pow", "product", "quantiles", "radians",
    "reflect", "refract", "relu", "reverseBits", "round", "saturate", "sd", "select", "sigmoid",
    "sign", "sin", "sinh", "smoothstep", "softplus", "sqrt", "step", "sum", "tan", "tanh",
    "trunc", "unit", "var",
]
DRAWS = [
    "bernoulli", "beta", "binomial", "categorical", "cauchy", "chi_squared", "exponential",
    "gamma", "geometric", "laplace", "lognormal", "normal", "poisson", "randint", "random",
    "student_t", "uniform",
]
OPERATORS = [
    "<<=", ">>=", "!=", "%=", "&&", "&=", "**", "*=", "+=", "-=", "/=", "<<", "<=", "==", ">=",
    ">>", "^=", "|=", "||", "!", "%", "&", "*", "+", "-", "/", "<", "=", ">", "^", "|", "~",
]
