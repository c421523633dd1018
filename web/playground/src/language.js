// The highlighting of models, and of kernels.

import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import { WORDS } from "./words.js";

const classes = new Map();
const classify = (roles, style) => {
    for (const role of roles)
        for (const word of WORDS[role]) if (!classes.has(word)) classes.set(word, style);
};
classify(["declaration", "phase"], "definitionKeyword");
classify(["binding"], "modifier");
classify(["control"], "controlKeyword");
classify(["boolean"], "bool");
classify(["reserved"], "invalid");
classify(["type"], "typeName");
const calls = new Set(["function", "fold", "draw"].flatMap((role) => WORDS[role]));
const values = new Set(WORDS.value);

const NUMBER =
    /^(?:0[xX][0-9a-fA-F_]+u?|(?:\d[\d_]*)?\.\d[\d_]*(?:[eE][+-]?\d+)?|\d[\d_]*\.?(?!\.)(?:[eE][+-]?\d+)?u?)/;

/** Steps over a comment or text that several languages have; its style, or nothing. */
function common(stream, state) {
    if (state.depth > 0 || stream.match("/*")) {
        if (state.depth === 0) state.depth = 1;
        while (!stream.eol() && state.depth > 0) {
            if (stream.match("*/")) state.depth -= 1;
            else if (stream.match("/*")) state.depth += 1;
            else stream.next();
        }
        return "blockComment";
    }
    if (stream.match("//")) {
        const doc = stream.match(/^(?:!|\/(?!\/))/, false);
        stream.skipToEnd();
        return doc ? "docComment" : "lineComment";
    }
    return undefined;
}

export const sim = StreamLanguage.define({
    name: "sim",
    startState: () => ({ depth: 0 }),
    token(stream, state) {
        const comment = common(stream, state);
        if (comment) return comment;
        if (stream.eatSpace()) return null;
        if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
        if (stream.match(NUMBER)) return "number";
        const word = stream.match(/^[A-Za-z_]\w*/)?.[0];
        if (word) {
            const called = stream.match(/^\s*\(/, false);
            if (called && calls.has(word)) return "variableName.standard";
            if (stream.match(/^\s*</, false) && word === "bitcast") return "variableName.standard";
            const known = classes.get(word);
            if (known && !(called && (known === "definitionKeyword" || known === "modifier"))) return known;
            if (word === "every") return "definitionKeyword";
            if (called) return "variableName.function";
            return values.has(word) ? "variableName.special" : "variableName";
        }
        if (stream.match(/^(?:=>|->|\.\.|[-+*/%=<>!&|^~']+)/)) return "operator";
        stream.next();
        return null;
    },
    languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } } },
});

const KERNEL_WORDS = new Set(
    (
        "alias break case const continue continuing default diagnostic discard else enable fn for if let " +
        "loop override requires return struct switch var while"
    ).split(" "),
);
const KERNEL_TYPES = /^(?:f32|i32|u32|bool|array|atomic|ptr|vec[234][fiuh]?|mat[234]x[234]f?)$/;

export const wgsl = StreamLanguage.define({
    name: "wgsl",
    startState: () => ({ depth: 0 }),
    token(stream, state) {
        const comment = common(stream, state);
        if (comment) return comment;
        if (stream.eatSpace()) return null;
        if (stream.match(/^@\w+/)) return "modifier";
        if (stream.match(NUMBER)) return "number";
        const word = stream.match(/^[A-Za-z_]\w*/)?.[0];
        if (word) {
            if (KERNEL_WORDS.has(word)) return "controlKeyword";
            if (KERNEL_TYPES.test(word)) return "typeName";
            if (word === "true" || word === "false") return "bool";
            return stream.match(/^\s*\(/, false) ? "variableName.function" : "variableName";
        }
        if (stream.match(/^[-+*/%=<>!&|^~]+/)) return "operator";
        stream.next();
        return null;
    },
});

export const highlighting = syntaxHighlighting(
    HighlightStyle.define([
        { tag: [tags.definitionKeyword, tags.modifier], class: "tok-declaration" },
        { tag: tags.controlKeyword, class: "tok-control" },
        { tag: [tags.bool, tags.number], class: "tok-number" },
        { tag: tags.string, class: "tok-string" },
        { tag: tags.typeName, class: "tok-type" },
        { tag: [tags.standard(tags.variableName), tags.function(tags.variableName)], class: "tok-function" },
        { tag: tags.special(tags.variableName), class: "tok-special" },
        { tag: tags.docComment, class: "tok-doc" },
        { tag: [tags.lineComment, tags.blockComment], class: "tok-comment" },
        { tag: tags.operator, class: "tok-operator" },
        { tag: tags.invalid, class: "tok-invalid" },
    ]),
);
