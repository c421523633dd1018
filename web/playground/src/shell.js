// The frame of the page: tabs, the divider, the colours.

const narrow = window.matchMedia("(max-width: 800px)");

export class Tabs {
    constructor(list, onShow) {
        this.list = list;
        this.onShow = onShow;
        this.tabs = [...list.querySelectorAll("[role=tab]")];
        for (const tab of this.tabs)
            tab.addEventListener("click", () => this.select(tab.getAttribute("aria-controls")));
        list.addEventListener("keydown", (event) => this.#key(event));
        narrow.addEventListener("change", () => this.#arrange());
        this.current = narrow.matches ? "model" : "run";
        this.#arrange();
    }

    select(id) {
        // Where the model is always seen it is no tab.
        if (id === "model" && !narrow.matches) return;
        this.current = id;
        this.#arrange();
    }

    selectIfPhone(id) {
        if (narrow.matches) this.select(id);
    }

    #arrange() {
        if (!narrow.matches && this.current === "model") this.current = "run";
        for (const tab of this.tabs) {
            const id = tab.getAttribute("aria-controls");
            const selected = id === this.current;
            tab.setAttribute("aria-selected", String(selected));
            tab.tabIndex = selected ? 0 : -1;
            document.getElementById(id).hidden = !(selected || (id === "model" && !narrow.matches));
        }
        this.onShow();
    }

    #key(event) {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const shown = this.tabs.filter((tab) => tab.offsetParent !== null);
        const at = shown.findIndex((tab) => tab.getAttribute("aria-controls") === this.current);
        const next = shown[(at + step + shown.length) % shown.length];
        this.select(next.getAttribute("aria-controls"));
        next.focus();
        event.preventDefault();
    }
}

/** A divider that a pointer or the arrow keys move. */
export function draggable(divider) {
    const set = (percent) => {
        const kept = Math.min(80, Math.max(20, percent));
        document.documentElement.style.setProperty("--left", `${kept}%`);
        divider.setAttribute("aria-valuenow", String(Math.round(kept)));
    };
    divider.addEventListener("pointerdown", (event) => divider.setPointerCapture(event.pointerId));
    divider.addEventListener("pointermove", (event) => {
        if (divider.hasPointerCapture(event.pointerId)) set((event.clientX / window.innerWidth) * 100);
    });
    divider.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 2, ArrowLeft: -2 }[event.key];
        if (step) set(Number(divider.getAttribute("aria-valuenow")) + step);
    });
}

const storage = {
    get: (key) => {
        try {
            return localStorage.getItem(key);
        } catch {
            return null;
        }
    },
    set: (key, value) => {
        try {
            localStorage.setItem(key, value);
        } catch {
            // A page without storage forgets the choice.
        }
    },
};

/** Light and dark: as the system has it, or as chosen. */
export function themed(select) {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const apply = () => {
        const theme = select.value || (dark.matches ? "dark" : "light");
        document.documentElement.dataset.theme = theme;
        window.dispatchEvent(new Event("theme"));
    };
    select.value = storage.get("theme") ?? "";
    if (select.selectedIndex < 0) select.value = "";
    select.addEventListener("change", () => {
        storage.set("theme", select.value);
        apply();
    });
    dark.addEventListener("change", apply);
    apply();
}
