// What the live deck needs of others, bundled by build.py when a deck is served: the link to a kernel and the editor.
// Why not thebe, which makes code of any page run: it brings all of JupyterLab, takes over every cell as it loads and
// knows no lecture. A deck runs what a slide needs first, asks for guesses before it shows an answer, and says on the
// slide that Python is busy, has died or is back. So it takes Jupyter's services and CodeMirror, and adds the rest.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { KernelManager, ServerConnection, SessionManager } from "@jupyterlab/services";
import { tags } from "@lezer/highlight";
import { AnsiUp } from "ansi_up";

const BLANK = "..."; // in a line that the hall dictates

const colours = HighlightStyle.define([
  { tag: tags.keyword, class: "k" },
  { tag: [tags.string, tags.special(tags.string)], class: "s" },
  { tag: tags.comment, class: "c" },
  { tag: [tags.number, tags.bool, tags.null], class: "m" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.className], class: "nf" },
  { tag: tags.operator, class: "o" },
]);

// An editor for one cell; `changed` is told the whole text after each edit.
export function editor(parent, text, label, changed) {
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        history(),
        bracketMatching(),
        indentUnit.of("    "),
        python(),
        syntaxHighlighting(colours),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label }),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
      ],
    }),
  });
}

export function rewrite(view, text) {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}

// The next letter takes the place of what is to be filled in; where nothing is left of it, it follows what was written.
export function toBlank(view) {
  const text = view.state.doc.toString();
  const place = text.indexOf(BLANK);
  const end = text.search(/[ \t]*(#|\n|$)/); // where the first line's code ends
  const selection = place < 0 ? { anchor: end } : { anchor: place, head: place + BLANK.length };
  view.dispatch({ selection, scrollIntoView: true });
  view.focus();
}

// A session with a kernel of this page's own: the one named by `id` if it still runs, or a new one.
export async function connect({ baseUrl, token, path, id }) {
  const serverSettings = ServerConnection.makeSettings({
    baseUrl,
    wsUrl: baseUrl.replace(/^http/, "ws"),
    token,
    appendToken: true,
  });
  const kernelManager = new KernelManager({ serverSettings });
  const sessions = new SessionManager({ serverSettings, kernelManager });
  await sessions.ready;
  const model = id ? [...sessions.running()].find((running) => running.id === id) : undefined;
  const options = { kernelConnectionOptions: { handleComms: false } }; // boards live in the page: Python waits for none
  if (model) return { session: sessions.connectTo({ model, ...options }), again: true };
  const name = `deck ${path} ${Date.now()}`;
  const session = await sessions.startNew({ path: name, name, type: "deck", kernel: { name: "python3" } }, options);
  return { session, again: false };
}

export function coloured(text) {
  const ansi = new AnsiUp();
  ansi.use_classes = true;
  return ansi.ansi_to_html(text);
}
