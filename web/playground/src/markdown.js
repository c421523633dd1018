// The Markdown that the compiler writes: paragraphs, lists, `code` and blocks of code. Never HTML of a user.

function inline(text, parent) {
    for (const [index, part] of text.split(/`([^`]+)`/).entries()) {
        if (index % 2 === 1) parent.append(element("code", {}, part));
        else {
            for (const [inner, words] of part.split(/\*\*([^*]+)\*\*/).entries()) {
                parent.append(inner % 2 === 1 ? element("strong", {}, words) : words);
            }
        }
    }
}

/** A new element with attributes, and texts or nodes in it. */
export function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (key === "class") made.className = value;
        else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
        else if (value === true) made.setAttribute(key, "");
        else if (value !== false && value !== undefined && value !== null) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
}

/** Markdown as nodes. */
export function markdown(text) {
    const found = element("div", { class: "markdown" });
    for (const [index, part] of text.split(/```(?:\w*)\n([\s\S]*?)\n```/).entries()) {
        if (index % 2 === 1) {
            found.append(element("pre", {}, part));
            continue;
        }
        for (const paragraph of part.split(/\n\s*\n/)) {
            const lines = paragraph.split("\n").filter((line) => line.trim() !== "");
            if (lines.length === 0) continue;
            if (/^-{3,}$/.test(lines[0])) lines.shift();
            const list = lines.length > 0 && lines.every((line) => /^(?:[-*] |\s+)/.test(line));
            const block = element(list ? "ul" : "p");
            const items = list
                ? lines
                      .join("\n")
                      .split(/^[-*] /m)
                      .filter((item) => item.trim())
                : [lines.join(" ")];
            for (const item of items) {
                const into = list ? block.appendChild(element("li")) : block;
                inline(item.replace(/\s*\n\s*/g, " ").replace(/^#+ /, ""), into);
            }
            if (block.childNodes.length > 0) found.append(block);
        }
    }
    return found;
}
