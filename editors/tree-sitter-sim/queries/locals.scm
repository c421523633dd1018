; Scopes
(source_file) @local.scope
(function_declaration) @local.scope
(step_declaration) @local.scope
(block) @local.scope
(for_statement) @local.scope
(comprehension) @local.scope

; Declarations
(const_declaration name: (name) @local.definition.constant)
(param_declaration name: (name) @local.definition.var)
(data_declaration name: (name) @local.definition.var)
(input_declaration name: (name) @local.definition.var)
(state_declaration name: (name) @local.definition.var)
(function_declaration name: (name) @local.definition.function)
(struct_declaration name: (name) @local.definition.type)
(enum_declaration name: (name) @local.definition.type)
(variant name: (name) @local.definition.constant)
(field name: (name) @local.definition.field)
(parameter name: (name) @local.definition.parameter)
(let_statement name: (name) @local.definition.var)
(var_statement name: (name) @local.definition.var)
(step_declaration index: (name) @local.definition.var)
(for_statement index: (name) @local.definition.var)
(comprehension index: (name) @local.definition.var)

; Uses
(identifier) @local.reference
(type_identifier) @local.reference
(call_expression function: (name) @local.reference)
