// The editor of the model: CodeMirror, which asks the compiler's worker.

import {
    autocompletion,
    closeBrackets,
    closeBracketsKeymap,
    completionKeymap,
    snippet,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { forceLinting, lintGutter, linter, lintKeymap, nextDiagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
import {
    Decoration,
    drawSelection,
    EditorView,
    highlightActiveLine,
    highlightActiveLineGutter,
    hoverTooltip,
    keymap,
    lineNumbers,
} from "@codemirror/view";
import { highlighting, sim } from "./language.js";
import { element, markdown } from "./markdown.js";

/** Milliseconds without a key before the compiler is asked. */
const PAUSE = 150;
/** Longest text, in characters, whose names are marked by what they are. */
const MOST_MARKED = 300_000;

const setTokens = StateEffect.define();
const tokenMarks = StateField.define({
    create: () => Decoration.none,
    update(marks, transaction) {
        marks = marks.map(transaction.changes);
        for (const effect of transaction.effects) if (effect.is(setTokens)) marks = effect.value;
        return marks;
    },
    provide: (field) => EditorView.decorations.from(field),
});

/** Names of states, params and so on, which only the compiler can tell apart. */
const SHOWN = new Set([
    "macro",
    "property",
    "enumMember",
    "struct",
    "enum",
    "method",
    "parameter",
    "variable",
]);

function marksOf(tokens, length) {
    const marks = [];
    for (const { from, to, class: kind, modifiers } of tokens) {
        if (!SHOWN.has(kind) || to > length || from >= to) continue;
        const constant = modifiers.includes("readonly") ? " sem-readonly" : "";
        marks.push(Decoration.mark({ class: `sem-${kind}${constant}` }).range(from, to));
    }
    return Decoration.set(marks, true);
}

const KINDS = { snippet: "keyword", struct: "class", field: "property", variant: "enum" };

export class ModelEditor {
    /**
     * `onChange(source, diagnostics)` is called when the compiler has read a change, `onCursor(line)` and
     * `onTyping()` at once.
     */
    constructor({ parent, compiler, onChange, onCursor, onTyping }) {
        this.compiler = compiler;
        this.onChange = onChange;
        this.onCursor = onCursor;
        this.onTyping = onTyping;
        this.wrapping = new Compartment();
        this.view = new EditorView({ parent, state: this.#state("") });
    }

    get source() {
        return this.view.state.doc.toString();
    }

    /** Replaces the model, and its history. */
    open(source) {
        this.view.setState(this.#state(source));
        forceLinting(this.view);
    }

    #state(doc) {
        return EditorState.create({
            doc,
            extensions: [
                lineNumbers(),
                lintGutter(),
                foldGutter(),
                history(),
                drawSelection(),
                indentOnInput(),
                indentUnit.of("    "),
                bracketMatching(),
                closeBrackets(),
                highlightActiveLine(),
                highlightActiveLineGutter(),
                highlightSelectionMatches(),
                search({ top: true }),
                EditorState.tabSize.of(4),
                sim,
                highlighting,
                tokenMarks,
                this.wrapping.of([]),
                EditorView.contentAttributes.of({ "aria-label": "Model", spellcheck: "false" }),
                linter((view) => this.#lint(view), { delay: PAUSE }),
                hoverTooltip((view, at) => this.#hover(view, at)),
                autocompletion({ override: [(context) => this.#complete(context)] }),
                keymap.of([
                    { key: "Mod-s", preventDefault: true, run: () => (this.format(), true) },
                    { key: "Mod-.", preventDefault: true, run: (view) => nextDiagnostic(view) },
                    { key: "F12", run: () => (this.#definition(), true) },
                    { key: "F2", run: () => (this.#rename(), true) },
                    ...closeBracketsKeymap,
                    ...defaultKeymap,
                    ...searchKeymap,
                    ...historyKeymap,
                    ...foldKeymap,
                    ...completionKeymap,
                    ...lintKeymap,
                    indentWithTab,
                ]),
                EditorView.updateListener.of((update) => {
                    if (update.docChanged) this.onTyping();
                    if (update.selectionSet || update.docChanged) this.onCursor(this.line);
                }),
            ],
        });
    }

    /** The line of the cursor, from 0. */
    get line() {
        const { doc, selection } = this.view.state;
        return doc.lineAt(selection.main.head).number - 1;
    }

    async #lint(view) {
        const { doc } = view.state;
        const source = doc.toString();
        let found;
        try {
            const tokens = source.length > MOST_MARKED ? [] : this.compiler.ask("tokens", source);
            // A fix is tried by a compilation: in a large model only the first mistakes get theirs.
            const fixes = Math.max(3, Math.floor(20_000 / doc.lines));
            found = await this.compiler.ask("check", source, { fixes });
            if (view.state.doc !== doc) return [];
            const marks = marksOf(await tokens, doc.length);
            if (view.state.doc === doc) view.dispatch({ effects: setTokens.of(marks) });
        } catch ({ message, help }) {
            found = [{ code: "", severity: "error", message, from: 0, to: 0, labels: [], help, fixes: [] }];
        }
        if (view.state.doc === doc) this.onChange(source, found);
        return found.map((one) => this.#diagnostic(one, doc.length));
    }

    #diagnostic(one, length) {
        const from = Math.min(one.from, length);
        return {
            from,
            to: Math.min(Math.max(one.to, from), length),
            severity: one.severity,
            source: one.code,
            message: one.message,
            renderMessage: () => this.explanation(one),
            actions: one.fixes.map((fix) => ({ name: fix.title, apply: () => this.apply(fix.edits) })),
        };
    }

    /** A complaint in words. */
    explanation(one) {
        const line = (at) => this.view.state.doc.lineAt(Math.min(at, this.view.state.doc.length)).number;
        const related = one.labels
            .slice(1)
            .map((label) => element("div", { class: "related" }, `line ${line(label.from)}: ${label.text}`));
        const first = one.labels[0]?.text;
        return element(
            "div",
            { class: "complaint" },
            element("div", {}, element("strong", {}, one.code), ` ${one.message}`, first ? `: ${first}` : ""),
            ...related,
            one.help ? element("div", { class: "help" }, `help: ${one.help}`) : null,
        );
    }

    /** Changes the text. */
    apply(edits) {
        this.view.dispatch({ changes: edits, userEvent: "input.fix" });
        this.view.focus();
        forceLinting(this.view);
    }

    /** Moves the cursor. */
    go(from, to = from) {
        const { length } = this.view.state.doc;
        const selection = { anchor: Math.min(from, length), head: Math.min(to, length) };
        this.view.dispatch({
            selection,
            effects: EditorView.scrollIntoView(selection.anchor, { y: "center" }),
        });
        this.view.focus();
    }

    /** Moves the cursor to a line, from 0. */
    goToLine(line) {
        const { doc } = this.view.state;
        this.go(doc.line(Math.min(line + 1, doc.lines)).from);
    }

    async #hover(view, at) {
        const { doc } = view.state;
        const found = await this.compiler.ask("hover", doc.toString(), at).catch(() => null);
        if (!found || view.state.doc !== doc) return null;
        return {
            pos: found.from,
            end: found.to,
            create: () => ({ dom: element("div", { class: "hover" }, markdown(found.markdown)) }),
        };
    }

    async #complete(context) {
        const word = context.matchBefore(/\w*/);
        const behindDot = context.matchBefore(/\.\w*/);
        if (!context.explicit && !behindDot && (!word || word.from === word.to)) return null;
        const found = await this.compiler
            .ask("complete", context.state.doc.toString(), context.pos)
            .catch(() => []);
        if (context.aborted || found.length === 0) return null;
        const { from } = found[0];
        return {
            from,
            validFor: /^\w*$/,
            options: found.map((item, index) => ({
                label: item.label,
                type: KINDS[item.kind] ?? item.kind,
                detail: item.detail ?? undefined,
                boost: -index / found.length,
                info: item.markdown ? () => markdown(item.markdown) : undefined,
                apply: item.snippet ? snippet(item.insert) : item.insert,
            })),
        };
    }

    /** Brings the model into canonical style; throws where it cannot. */
    async format() {
        const { doc } = this.view.state;
        const text = await this.compiler.ask("format", doc.toString());
        if (this.view.state.doc !== doc) return;
        const before = doc.toString();
        if (text === before) return;
        let from = 0;
        while (from < text.length && text[from] === before[from]) from += 1;
        let end = 0;
        const most = Math.min(text.length, before.length) - from;
        while (end < most && text.at(-1 - end) === before.at(-1 - end)) end += 1;
        const changes = { from, to: before.length - end, insert: text.slice(from, text.length - end) };
        this.view.dispatch({ changes, userEvent: "format" });
    }

    async #definition() {
        const { head } = this.view.state.selection.main;
        const place = await this.compiler.ask("definition", this.source, head).catch(() => null);
        if (place) this.go(place.from, place.to);
    }

    async #rename() {
        const { head } = this.view.state.selection.main;
        const word = this.view.state.wordAt(head);
        const old = word ? this.view.state.sliceDoc(word.from, word.to) : "";
        const name = window.prompt(`New name of \`${old}\``, old);
        if (!name || name === old) return;
        try {
            const edits = await this.compiler.ask("rename", this.source, head, name);
            this.apply(edits.map(({ from, to, insert }) => ({ from, to, insert })));
        } catch (error) {
            window.alert(`${error.message}\n${error.help ?? ""}`);
        }
    }
}
