(function_declaration) @local.scope
(step_declaration) @local.scope
(block) @local.scope
(comprehension) @local.scope

(parameter name: (name) @local.definition.variable.parameter)

(identifier) @local.reference
