/**
 * The grammar of Sim for tree-sitter. It follows the compiler's own (docs/language.md): newlines mean
 * nothing, and what continues an expression does so wherever it stands.
 *
 * A name is a `name` where it is declared, called or picked as a field, an `identifier` where it is a
 * value, and a `type_identifier` in types: each leaf has a node of its own meaning, so that queries need
 * not override one another.
 */

const PRECEDENCE = {
  or: 1,
  and: 2,
  compare: 3,
  bit_or: 4,
  bit_xor: 5,
  bit_and: 6,
  shift: 7,
  add: 8,
  multiply: 9,
  prefix: 10,
  power: 11,
};

/** `rule`, separated by commas, with a trailing comma or without; at least one. */
const list = (rule) => seq(rule, repeat(seq(",", rule)), optional(","));

module.exports = grammar({
  name: "sim",

  word: ($) => $._word,

  extras: ($) => [/\s/, /\uFEFF/, $.line_comment, $.doc_comment, $.model_comment, $.block_comment],

  // Block comments nest, which no regular expression says: `src/scanner.c`.
  externals: ($) => [$.block_comment],

  supertypes: ($) => [$.declaration, $.statement, $.expression, $.type],

  rules: {
    source_file: ($) => repeat(choice($.declaration, ";")),

    // Comments: `///` documents a declaration, `//!` the file; `////` is an ordinary comment. Of equal
    // matches the first counts.
    model_comment: (_) => /\/\/![^\n]*/,
    doc_comment: (_) => /\/\/\/([^\/\n][^\n]*)?/,
    line_comment: (_) => /\/\/[^\n]*/,

    // Declarations.
    declaration: ($) =>
      choice(
        $.agents_declaration,
        $.steps_declaration,
        $.world_declaration,
        $.const_declaration,
        $.param_declaration,
        $.data_declaration,
        $.input_declaration,
        $.state_declaration,
        $.output_declaration,
        $.record_declaration,
        $.observe_declaration,
        $.function_declaration,
        $.struct_declaration,
        $.enum_declaration,
        $.init_declaration,
        $.step_declaration,
        $.finish_declaration,
        $.test_declaration,
      ),

    agents_declaration: ($) => seq("agents", field("value", $.expression)),
    steps_declaration: ($) => seq("steps", field("value", $.expression)),
    world_declaration: ($) => seq("world", field("value", $.expression)),
    const_declaration: ($) => seq("const", $._named, optional($._typed), $._valued),
    param_declaration: ($) =>
      seq("param", $._named, optional($._typed), optional($._valued), optional(seq("in", field("range", $.range)))),
    data_declaration: ($) => seq("data", $._named, $._typed),
    input_declaration: ($) =>
      seq(optional("world"), "input", $._named, optional($._typed), optional(choice($._valued, seq("~", field("distribution", $.expression))))),
    state_declaration: ($) => seq(optional("world"), "state", $._named, optional($._typed), $._valued),
    output_declaration: ($) => seq(optional("world"), "output", $._named, optional($._typed), optional($._valued)),

    record_declaration: ($) => seq("record", $._named, optional($._typed), optional($._valued), optional($._every)),
    observe_declaration: ($) =>
      seq(
        optional("world"),
        "observe",
        $._named,
        optional($._typed),
        optional($._valued),
        optional($._every),
      ),
    _every: ($) => seq("every", field("every", $.expression)),

    function_declaration: ($) =>
      seq("fn", $._named, field("parameters", $.parameters), optional(seq("->", field("result", $.type))), field("body", $.block)),
    parameters: ($) => seq("(", optional(list($.parameter)), ")"),
    parameter: ($) => seq($._named, $._typed),

    struct_declaration: ($) => seq("struct", $._named, field("body", $.field_list)),
    field_list: ($) => seq("{", optional(list($.field)), "}"),
    field: ($) => seq($._named, $._typed),

    enum_declaration: ($) => seq("enum", $._named, field("body", $.variant_list)),
    variant_list: ($) => seq("{", optional(list($.variant)), "}"),
    variant: ($) => $._named,

    init_declaration: ($) => seq("init", field("body", $.block)),
    step_declaration: ($) => seq(optional("world"), "step", optional(field("index", $.name)), field("body", $.block)),
    finish_declaration: ($) => seq("finish", field("body", $.block)),

    // The words of tests are names everywhere else.
    test_declaration: ($) => seq("test", field("name", $.text), field("body", $.test_block)),
    test_block: ($) =>
      seq(
        "{",
        repeat(choice($.test_count, $.test_value, $.expectation, ";")),
        "}",
      ),
    test_count: ($) => seq(choice("agents", "steps", "world", "seed"), field("value", $.expression)),
    test_value: ($) =>
      choice(
        seq("param", $._named, $._valued),
        seq(choice("data", "input"), $._named, choice($._valued, seq("from", field("file", $.text)))),
      ),
    expectation: ($) =>
      seq(
        "expect",
        field("value", $.expression),
        optional(
          choice(
            seq("~", field("expected", $.expression), "within", field("tolerance", $._term), optional(choice("%", "se"))),
            seq("in", field("range", $.range)),
          ),
        ),
      ),
    _named: ($) => field("name", $.name),
    _typed: ($) => seq(":", field("type", $.type)),
    _valued: ($) => seq("=", field("value", $.expression)),

    // Types.
    type: ($) => choice($.type_identifier, $.array_type),
    type_identifier: ($) => $._word,
    array_type: ($) => seq("[", field("element", $.type), optional(seq(";", field("length", $.expression))), "]"),

    // Statements.
    block: ($) => seq("{", repeat(choice($.statement, ";")), "}"),

    statement: ($) =>
      choice(
        $._open_statement,
        $._braced_statement,
      ),
    _open_statement: ($) =>
      choice(
        $.let_statement,
        $.var_statement,
        $.assignment,
        $.equation,
        $.return_statement,
        $.break_statement,
        $.continue_statement,
        $.stop_statement,
        $.assert_statement,
      ),
    _braced_statement: ($) =>
      choice(
        $.if_statement,
        $.for_statement,
        $.while_statement,
        $.match_statement,
        $.integrate_statement,
        $.block,
      ),

    let_statement: ($) => seq("let", $._named, optional($._typed), $._valued),
    var_statement: ($) => seq("var", $._named, optional($._typed), $._valued),
    assignment: ($) =>
      seq(
        field("place", $._place),
        field("operator", choice("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")),
        field("value", $.expression),
      ),
    // Begins with a name: a statement that began with a bracket would continue the one before it.
    _place: ($) =>
      choice(
        $.identifier,
        alias($._element_place, $.index_expression),
        alias($._field_place, $.field_expression),
      ),
    _element_place: ($) => seq(field("value", $._place), $._element),
    _field_place: ($) => seq(field("value", $._place), $._member),
    equation: ($) => seq(field("state", $.identifier), "'", "=", field("value", $.expression)),
    if_statement: ($) =>
      seq(
        "if",
        field("condition", $.expression),
        field("consequence", $.block),
        optional(seq("else", field("alternative", choice($.if_statement, $.block)))),
      ),
    for_statement: ($) =>
      seq("for", field("index", $.name), "in", $._domain, field("body", $.block)),
    // `world` alone is all agents of the world; before `[`, `.` or `..` it begins an expression.
    _domain: ($) => choice(field("range", $.range), field("agents", alias("world", $.identifier))),
    while_statement: ($) =>
      seq("while", field("condition", $.expression), optional(seq("limit", field("limit", $.expression))), field("body", $.block)),
    match_statement: ($) => seq("match", field("value", $.expression), field("body", $.match_block)),
    match_block: ($) =>
      seq(
        "{",
        repeat(choice($.match_arm, alias($._open_arm, $.match_arm))),
        optional(alias($._last_arm, $.match_arm)),
        "}",
      ),
    // An arm that ends with a brace needs no comma, another one only as the last.
    match_arm: ($) => prec.right(seq($._patterns, "=>", field("body", $._braced_statement), optional(","))),
    _open_arm: ($) => seq($._patterns, "=>", field("body", $._open_statement), ","),
    _last_arm: ($) => seq($._patterns, "=>", field("body", $._open_statement)),
    _patterns: ($) => seq(field("pattern", $._pattern), repeat(seq("|", field("pattern", $._pattern)))),
    _pattern: ($) => choice($.rest_pattern, $._term),
    rest_pattern: (_) => "_",
    integrate_statement: ($) =>
      seq("integrate", field("method", $.name), "(", field("time", $.expression), ")", field("body", $.block)),
    return_statement: ($) => prec.right(seq("return", optional(field("value", $.expression)))),
    break_statement: (_) => "break",
    continue_statement: (_) => "continue",
    stop_statement: (_) => "stop",
    assert_statement: ($) => seq("assert", field("condition", $.expression), ",", field("message", $.text)),

    // Expressions.
    expression: ($) => choice($._term, $.binary_expression),

    // What needs no operator between operands: also what a pattern may be.
    _term: ($) =>
      choice($.unary_expression, $._operand),
    _operand: ($) =>
      choice(
        $.integer,
        $.float,
        $.boolean,
        $.identifier,
        $.parenthesized_expression,
        $.call_expression,
        $.bitcast_expression,
        $.array_expression,
        $.repeat_expression,
        $.array_comprehension,
        $.if_expression,
        $.index_expression,
        $.field_expression,
      ),

    binary_expression: ($) => {
      const rows = [
        [PRECEDENCE.or, "||"],
        [PRECEDENCE.and, "&&"],
        [PRECEDENCE.compare, choice("==", "!=", "<", "<=", ">", ">=")],
        [PRECEDENCE.bit_or, "|"],
        [PRECEDENCE.bit_xor, "^"],
        [PRECEDENCE.bit_and, "&"],
        [PRECEDENCE.shift, choice("<<", ">>")],
        [PRECEDENCE.add, choice("+", "-")],
        [PRECEDENCE.multiply, choice("*", "/", "%")],
      ];
      const row = (operator) =>
        seq(field("left", $.expression), field("operator", operator), field("right", $.expression));
      return choice(
        ...rows.map(([precedence, operator]) => prec.left(precedence, row(operator))),
        prec.right(PRECEDENCE.power, row("**")),
      );
    },
    unary_expression: ($) =>
      prec(PRECEDENCE.prefix, seq(field("operator", choice("-", "!", "~")), field("operand", $.expression))),
    parenthesized_expression: ($) => seq("(", $.expression, ")"),
    call_expression: ($) => seq(field("function", $._callee), field("arguments", $.arguments)),
    // `var` begins a statement, too, which no expression goes on with.
    _callee: ($) => choice($.name, alias("step", $.name), alias("var", $.name)),
    arguments: ($) => seq("(", optional(choice($.comprehension, list($.expression))), ")"),
    bitcast_expression: ($) => seq("bitcast", "<", field("type", $.type), ">", "(", field("value", $.expression), ")"),
    array_expression: ($) => seq("[", optional(list($.expression)), "]"),
    repeat_expression: ($) => seq("[", field("value", $.expression), ";", field("length", $.expression), "]"),
    array_comprehension: ($) => seq("[", $.comprehension, "]"),
    comprehension: ($) =>
      seq(
        "for",
        field("index", $.name),
        "in",
        $._domain,
        optional(seq("if", field("filter", $.expression))),
        ":",
        field("value", $.expression),
      ),
    if_expression: ($) =>
      seq(
        "if",
        field("condition", $.expression),
        field("consequence", $.value_block),
        "else",
        field("alternative", choice($.if_expression, $.value_block)),
      ),
    value_block: ($) => seq("{", $.expression, "}"),
    index_expression: ($) => seq(field("value", $._operand), $._element),
    field_expression: ($) => seq(field("value", $._operand), $._member),
    _element: ($) => seq("[", field("index", $.expression), "]"),
    _member: ($) => seq(".", field("field", $.name)),
    range: ($) => seq(field("start", $.expression), "..", field("end", $.expression)),

    integer: ($) => choice($._digits, token(/[0-9][0-9_]*u/), token(/0[xX][0-9a-fA-F_]+u?/)),
    // The point of `1.` is a token of its own, since `1..n` is a range.
    float: ($) =>
      choice(
        token(/([0-9][0-9_]*)?\.[0-9][0-9_]*([eE][+-]?[0-9][0-9_]*)?/),
        token(/[0-9][0-9_]*\.?[eE][+-]?[0-9][0-9_]*/),
        seq($._digits, token.immediate(".")),
      ),
    _digits: (_) => /[0-9][0-9_]*/,
    boolean: (_) => choice("true", "false"),
    text: (_) => token(/"([^"\\\n]|\\.)*"/),

    name: ($) => $._word,
    // `agents`, `steps` and `world` are words of declarations and values, too.
    identifier: ($) => choice($._word, "agents", "steps", "world"),
    _word: (_) => /[A-Za-z_][A-Za-z0-9_]*/,
  },
});
