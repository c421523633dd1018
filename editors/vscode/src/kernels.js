// The generated kernel beside its model: a read-only document that follows the model's text and cursor.
//
// The server answers the command `simc.wgsl`, whose argument is the model's address, with
// `{ text, lines }`: the kernel, and rows `[line, first, last]` that say to which lines of the kernel a
// line of the model went; all are counted from 0.

const vscode = require("vscode");

const SCHEME = "sim-wgsl";
const PATIENCE = 300;

class Kernels {
  /** @param {(uri: vscode.Uri) => Promise<{ text: string, lines?: number[][] }>} ask */
  constructor(ask) {
    this.ask = ask;
    /** The last whole kernel of each model: a model with a mistake keeps it. */
    this.known = new Map();
    this.timers = new Map();
    this.changed = new vscode.EventEmitter();
    this.mark = vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      backgroundColor: new vscode.ThemeColor("editor.rangeHighlightBackground"),
    });
    this.parts = [
      this.changed,
      this.mark,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
        onDidChange: this.changed.event,
        provideTextDocumentContent: (uri) => this.text(uri),
      }),
      vscode.workspace.onDidChangeTextDocument((event) => this.later(event.document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.forget(document)),
      vscode.window.onDidChangeTextEditorSelection((event) => this.follow(event.textEditor)),
    ];
  }

  /** Opens the kernel of the model in an editor beside it. */
  async show(editor) {
    if (editor?.document.languageId !== "sim") {
      vscode.window.showInformationMessage("Open a .sim file to see its kernel.");
      return;
    }
    try {
      const uri = kernelOf(editor.document.uri);
      await this.fetch(editor.document.uri);
      const document = await vscode.workspace.openTextDocument(uri);
      const shown = await vscode.languages.setTextDocumentLanguage(document, "wgsl").then(
        (document) => document,
        () => document,
      );
      await vscode.window.showTextDocument(shown, {
        viewColumn: vscode.ViewColumn.Beside,
        preserveFocus: true,
        preview: true,
      });
      this.follow(editor);
    } catch (error) {
      vscode.window.showErrorMessage(`There is no kernel to show: ${error.message ?? error}`);
    }
  }

  async fetch(model) {
    const kernel = await this.ask(model);
    if (typeof kernel?.text !== "string") {
      throw new Error("the model has mistakes, or this `simc` is too old");
    }
    this.known.set(model.toString(), kernel);
    return kernel;
  }

  text(uri) {
    const kernel = this.known.get(modelOf(uri).toString());
    return kernel ? kernel.text : "";
  }

  /** Asks again when the typing rests. */
  later(document) {
    const key = document.uri.toString();
    if (!this.known.has(key)) {
      return;
    }
    clearTimeout(this.timers.get(key));
    const timer = setTimeout(async () => {
      const before = this.known.get(key)?.text;
      const kernel = await this.fetch(document.uri).catch(() => undefined);
      if (kernel && kernel.text !== before) {
        this.changed.fire(kernelOf(document.uri));
      }
    }, PATIENCE);
    this.timers.set(key, timer);
  }

  /** Marks the lines of the kernel that the line of the model's cursor became. */
  follow(editor) {
    const kernel = this.known.get(editor.document.uri.toString());
    if (!kernel) {
      return;
    }
    const address = kernelOf(editor.document.uri).toString();
    const beside = vscode.window.visibleTextEditors.find(
      (other) => other.document.uri.toString() === address,
    );
    const line = editor.selection.active.line;
    const ranges = (kernel.lines ?? [])
      .filter(([from]) => from === line)
      .map(([, first, last]) => new vscode.Range(first, 0, last, 0));
    beside?.setDecorations(this.mark, ranges);
    if (ranges.length > 0) {
      beside?.revealRange(ranges[0], vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
  }

  forget(document) {
    if (document.uri.scheme === SCHEME) {
      const key = modelOf(document.uri).toString();
      clearTimeout(this.timers.get(key));
      this.timers.delete(key);
      this.known.delete(key);
    }
  }

  dispose() {
    this.timers.forEach((timer) => clearTimeout(timer));
    this.parts.forEach((part) => part.dispose());
  }
}

/** The address of the kernel of a model. */
function kernelOf(model) {
  return vscode.Uri.from({ scheme: SCHEME, path: `${model.path}.wgsl`, query: model.toString() });
}

/** The address of the model of a kernel. */
function modelOf(kernel) {
  return vscode.Uri.parse(kernel.query);
}

module.exports = { Kernels };
