"""The words of the language by kind, from the compiler's table: ``editors/templates/words.py`` says
what stands here, and a test of the workspace keeps it so."""

# fmt: off

KEYWORDS = [
    {{binding conditional loop jump integrate check sampling bitcast}}
]
DECLARATIONS = [
    {{declaration}}
]
PHASES = [
    {{phase}}
]
TESTING = [
    {{testing}}
]
BOOLEANS = [
    {{boolean}}
]
RESERVED = [
    {{reserved}}
]
TYPES = [
    {{type}}
]
VALUES = [
    {{value}}
]
METHODS = [
    {{method}}
]
FUNCTIONS = [
    {{function fold}}
]
DRAWS = [
    {{draw}}
]
OPERATORS = [
    {{arithmetic comparison logical bitwise assignment}}
]
