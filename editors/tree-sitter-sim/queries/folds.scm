[
  (block)
  (field_list)
  (variant_list)
  (match_block)
  (test_block)
  (array_expression)
  (arguments)
] @fold

(source_file (model_comment)+ @fold)
(source_file (doc_comment)+ @fold)
