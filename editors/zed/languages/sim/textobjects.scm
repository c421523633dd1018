(function_declaration body: (_) @function.inside) @function.around
(step_declaration body: (_) @function.inside) @function.around
[(line_comment) (block_comment) (doc_comment) (model_comment)]+ @comment.around
