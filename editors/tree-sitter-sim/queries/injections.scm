([(line_comment) (block_comment) (doc_comment) (model_comment)] @injection.content
  (#set! injection.language "comment"))
