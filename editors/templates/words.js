// Made from the compiler's table of words: editors/README.md says how.

/** The words of the language by their role. */
export const WORDS = {
    declaration: [
        {{declaration}},
    ],
    phase: [{{phase}}],
    sampling: [{{sampling}}],
    testing: [{{testing}}],
    binding: [{{binding}}],
    control: [
        {{conditional loop jump integrate check bitcast}},
    ],
    boolean: [{{boolean}}],
    reserved: [{{reserved}}],
    type: [{{type}}],
    value: [{{value}}],
    method: [{{method}}],
    function: [
        {{function}},
    ],
    fold: [
        {{fold}},
    ],
    draw: [
        {{draw}},
    ],
};
