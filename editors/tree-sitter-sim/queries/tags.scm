(function_declaration name: (name) @name) @definition.function
(struct_declaration name: (name) @name) @definition.class
(enum_declaration name: (name) @name) @definition.class
(const_declaration name: (name) @name) @definition.constant
(call_expression function: (name) @name) @reference.call
