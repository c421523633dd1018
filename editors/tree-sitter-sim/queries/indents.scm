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
  (array_type)
  (parenthesized_expression)
] @indent.begin

["}" "]" ")"] @indent.branch @indent.end

[(line_comment) (block_comment) (doc_comment) (model_comment)] @indent.auto
