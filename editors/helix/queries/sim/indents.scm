[
  (block)
  (field_list)
  (variant_list)
  (match_block)
  (test_block)
  (value_block)
  (parameters)
  (arguments)
  (array_expression)
  (repeat_expression)
  (array_comprehension)
  (parenthesized_expression)
] @indent

["}" "]" ")"] @outdent
