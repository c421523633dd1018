// A text that is only shown: a kernel whose lines of the model's cursor are marked, a program, a manifest.

import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { defaultKeymap } from "@codemirror/commands";
import { search, searchKeymap } from "@codemirror/search";
import { highlighting } from "./language.js";

const setMarked = StateEffect.define();
const marked = StateField.define({
    create: () => Decoration.none,
    update(lines, transaction) {
        for (const effect of transaction.effects) if (effect.is(setMarked)) return effect.value;
        return transaction.docChanged ? Decoration.none : lines;
    },
    provide: (field) => EditorView.decorations.from(field),
});
const line = Decoration.line({ class: "mapped" });

export class Listing {
    /** `onLine(line)`: a line was clicked, from 0. */
    constructor({ parent, label, language = [], onLine }) {
        this.onLine = onLine;
        this.extensions = [
            lineNumbers(),
            EditorState.readOnly.of(true),
            search({ top: true }),
            marked,
            highlighting,
            language,
            EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
            keymap.of([...defaultKeymap, ...searchKeymap]),
            EditorView.domEventHandlers({
                click: (event, view) => {
                    const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
                    if (at !== null) this.onLine?.(view.state.doc.lineAt(at).number - 1);
                },
            }),
        ];
        this.view = new EditorView({ parent, state: EditorState.create({ extensions: this.extensions }) });
    }

    get text() {
        return this.view.state.doc.toString();
    }

    show(text) {
        if (this.text === text) return;
        this.view.setState(EditorState.create({ doc: text, extensions: this.extensions }));
    }

    /** Marks lines `[first, last]`, and shows the first of them. */
    mark(ranges) {
        const { doc } = this.view.state;
        const numbers = new Set();
        for (const [first, last] of ranges) {
            for (let at = first; at <= last && at < doc.lines; at += 1) numbers.add(at + 1);
        }
        const sorted = [...numbers].sort((a, b) => a - b);
        const marks = sorted.map((number) => line.range(doc.line(number).from));
        const effects = [setMarked.of(Decoration.set(marks))];
        if (marks.length > 0 && this.view.dom.offsetParent !== null) {
            effects.push(EditorView.scrollIntoView(marks[0].from, { y: "center" }));
        }
        this.view.dispatch({ effects });
    }
}
