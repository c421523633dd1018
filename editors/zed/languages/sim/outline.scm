(const_declaration "const" @context name: (name) @name) @item
(param_declaration "param" @context name: (name) @name) @item
(data_declaration "data" @context name: (name) @name) @item
(input_declaration "input" @context name: (name) @name) @item
(state_declaration "state" @context name: (name) @name) @item
(output_declaration "output" @context name: (name) @name) @item
(record_declaration "record" @context name: (name) @name) @item
(observe_declaration "observe" @context name: (name) @name) @item
(function_declaration "fn" @context name: (name) @name) @item
(struct_declaration "struct" @context name: (name) @name) @item
(enum_declaration "enum" @context name: (name) @name) @item
(init_declaration "init" @name) @item
(step_declaration "step" @name) @item
(finish_declaration "finish" @name) @item
(test_declaration "test" @context name: (text) @name) @item
[(doc_comment) (model_comment)] @annotation
