(function_declaration body: (_) @function.inside) @function.around
(step_declaration body: (_) @function.inside) @function.around
(struct_declaration body: (_) @class.inside) @class.around
(enum_declaration body: (_) @class.inside) @class.around
(parameter) @parameter.inside
[(line_comment) (block_comment) (doc_comment) (model_comment)] @comment.inside
[(line_comment) (block_comment) (doc_comment) (model_comment)]+ @comment.around
