// The examples of the language, to open one.

import { element } from "./markdown.js";

export class Gallery {
    #list;

    constructor(dialog, onOpen) {
        this.dialog = dialog;
        this.onOpen = onOpen;
        const search = dialog.querySelector("input");
        search.addEventListener("input", () => this.#filter(search.value));
        dialog.querySelector("#close-examples").onclick = () => dialog.close();
        dialog.addEventListener("click", (event) => {
            if (event.target === dialog) dialog.close();
        });
    }

    async list() {
        this.#list ??= fetch("examples.json").then((response) => {
            if (!response.ok) throw new Error(`the examples cannot be loaded: ${response.status}`);
            return response.json();
        });
        return this.#list;
    }

    async find(name) {
        return (await this.list()).find((example) => example.name === name);
    }

    async load({ source, tables }) {
        const each = Object.entries(tables).map(async ([name, file]) => [
            name,
            await (await fetch(`data/${file}`)).text(),
        ]);
        return { source, files: Object.fromEntries(await Promise.all(each)) };
    }

    async open() {
        const list = await this.list();
        const parent = this.dialog.querySelector("ul");
        if (parent.childElementCount === 0) parent.append(...list.map((example) => this.#card(example)));
        this.dialog.showModal();
        this.dialog.querySelector("input").focus();
    }

    #card(example) {
        const choose = () => {
            this.dialog.close();
            this.onOpen(example);
        };
        return element(
            "li",
            {},
            element(
                "button",
                { type: "button", "data-name": example.name, onclick: choose },
                element("strong", {}, example.name),
                element("span", {}, example.title),
            ),
        );
    }

    #filter(text) {
        const words = text.toLowerCase().split(/\s+/);
        for (const item of this.dialog.querySelectorAll("li")) {
            const shown = item.textContent.toLowerCase();
            item.hidden = !words.every((word) => shown.includes(word));
        }
    }
}
