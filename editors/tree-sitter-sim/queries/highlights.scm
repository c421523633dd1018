; The patterns are disjoint: editors differ in which of several matches wins.

; Comments
[(line_comment) (block_comment)] @comment
[(doc_comment) (model_comment)] @comment.documentation

; Words
(agents_declaration "agents" @keyword)
(steps_declaration "steps" @keyword)
(world_declaration "world" @keyword)
(input_declaration "world" @keyword)
(state_declaration "world" @keyword)
(output_declaration "world" @keyword)
(observe_declaration "world" @keyword)
(step_declaration ["world" "step"] @keyword)
["init" "finish" "const" "param" "data" "input" "state" "output" "record" "observe" "every"]
@keyword
(test_declaration "test" @keyword)
(test_count ["agents" "steps" "world" "seed"] @keyword)
(test_value "from" @keyword)
(expectation ["expect" "within" "se"] @keyword)
["fn"] @keyword.function
["struct" "enum"] @keyword.type
["let" "integrate" "limit" "assert"] @keyword
(var_statement "var" @keyword)
["else" "if" "match"] @keyword.conditional
["for" "in" "while"] @keyword.repeat
["return"] @keyword.return
[(break_statement) (continue_statement) (stop_statement)] @keyword.return

; Literals
(boolean) @boolean
(integer) @number
(float) @number.float
(text) @string

; Types
((type_identifier) @type.builtin
  (#any-of? @type.builtin "bool" "f32" "i32" "u32" "vec2" "vec3" "vec4"))
((type_identifier) @type
  (#not-any-of? @type "bool" "f32" "i32" "u32" "vec2" "vec3" "vec4"))
(struct_declaration name: (name) @type)
(enum_declaration name: (name) @type)

; Declared names
(const_declaration name: (name) @constant)
(param_declaration name: (name) @variable)
(data_declaration name: (name) @variable)
(input_declaration name: (name) @variable)
(state_declaration name: (name) @variable)
(output_declaration name: (name) @variable)
(record_declaration name: (name) @variable)
(observe_declaration name: (name) @variable)
(test_value name: (name) @variable)
(let_statement name: (name) @variable)
(var_statement name: (name) @variable)
(step_declaration index: (name) @variable)
(for_statement index: (name) @variable)
(comprehension index: (name) @variable)
(parameter name: (name) @variable.parameter)
(field name: (name) @variable.member)
(variant name: (name) @constant)
(function_declaration name: (name) @function)

; Calls
(call_expression function: (name) @function.builtin
  (#any-of? @function.builtin
    "abs" "acos" "acosh" "all" "any" "argmax" "argmin" "asin" "asinh" "atan" "atan2" "atanh"
    "bernoulli" "beta" "binomial" "categorical" "cauchy" "ceil" "chi_squared" "clamp" "cos"
    "cosh" "count" "countLeadingZeros" "countOneBits" "countTrailingZeros" "cross" "degrees"
    "distance" "dot" "erf" "erfc" "exp" "exp2" "exponential" "exponential_from" "extractBits"
    "faceForward" "firstLeadingBit" "firstTrailingBit" "floor" "fma" "fract" "gamma" "geometric"
    "histogram" "insertBits" "inverseSqrt" "laplace" "ldexp" "len" "length" "lgamma" "log" "log2"
    "lognormal" "max" "mean" "min" "mix" "mul_high" "normal" "normal_cdf" "normal_from"
    "normal_quantile" "normalize" "poisson" "pow" "product" "quantiles" "radians" "randint"
    "random" "reflect" "refract" "relu" "reverseBits" "round" "saturate" "sd" "select" "sigmoid"
    "sign" "sin" "sinh" "smoothstep" "softplus" "sqrt" "step" "student_t" "sum" "tan" "tanh"
    "trunc" "uniform" "unit" "var"))
(call_expression function: (name) @type.builtin
  (#any-of? @type.builtin "bool" "f32" "i32" "u32" "vec2" "vec3" "vec4"))
(call_expression function: (name) @constructor
  (#match? @constructor "^[A-Z]"))
(call_expression function: (name) @function.call
  (#not-match? @function.call "^[A-Z]")
  (#not-any-of? @function.call "bool" "f32" "i32" "u32" "vec2" "vec3" "vec4"
    "abs" "acos" "acosh" "all" "any" "argmax" "argmin" "asin" "asinh" "atan" "atan2" "atanh"
    "bernoulli" "beta" "binomial" "categorical" "cauchy" "ceil" "chi_squared" "clamp" "cos"
    "cosh" "count" "countLeadingZeros" "countOneBits" "countTrailingZeros" "cross" "degrees"
    "distance" "dot" "erf" "erfc" "exp" "exp2" "exponential" "exponential_from" "extractBits"
    "faceForward" "firstLeadingBit" "firstTrailingBit" "floor" "fma" "fract" "gamma" "geometric"
    "histogram" "insertBits" "inverseSqrt" "laplace" "ldexp" "len" "length" "lgamma" "log" "log2"
    "lognormal" "max" "mean" "min" "mix" "mul_high" "normal" "normal_cdf" "normal_from"
    "normal_quantile" "normalize" "poisson" "pow" "product" "quantiles" "radians" "randint"
    "random" "reflect" "refract" "relu" "reverseBits" "round" "saturate" "sd" "select" "sigmoid"
    "sign" "sin" "sinh" "smoothstep" "softplus" "sqrt" "step" "student_t" "sum" "tan" "tanh"
    "trunc" "uniform" "unit" "var"))
(bitcast_expression "bitcast" @function.builtin)
(integrate_statement method: (name) @function.builtin)

; Values
((identifier) @variable.builtin
  (#any-of? @variable.builtin "agent" "agents" "member" "steps" "world"))
((identifier) @constant
  (#match? @constant "^[A-Z]"))
((identifier) @variable
  (#not-match? @variable "^[A-Z]")
  (#not-any-of? @variable "agent" "agents" "member" "steps" "world"))
(field_expression field: (name) @variable.member)
(rest_pattern) @variable.builtin

; Signs
(unary_expression operator: _ @operator)
(binary_expression operator: _ @operator)
(assignment operator: _ @operator)
(const_declaration "=" @operator)
(param_declaration "=" @operator)
(input_declaration ["=" "~"] @operator)
(state_declaration "=" @operator)
(output_declaration "=" @operator)
(record_declaration "=" @operator)
(observe_declaration "=" @operator)
(test_value "=" @operator)
(expectation ["~" "%"] @operator)
(let_statement "=" @operator)
(var_statement "=" @operator)
(equation ["'" "="] @operator)
(range ".." @operator)
(match_arm ["=>" "|"] @operator)
(function_declaration "->" @operator)
(bitcast_expression ["<" ">"] @punctuation.bracket)
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":"] @punctuation.delimiter
(field_expression "." @punctuation.delimiter)
