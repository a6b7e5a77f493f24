// One line above the notebook, with a button, while there is something to say.

export class Bar {
  /** `stop` ends what is going on; `back` gives keys to the notebook, when the button that had them goes. */
  constructor({ Widget }, stop, back) {
    const node = document.createElement("div");
    Object.assign(this, { stop, back });
    this.words = document.createElement("span");
    this.words.setAttribute("role", "status");
    this.button = Object.assign(document.createElement("button"), { type: "button", className: "attn-button" });
    this.button.addEventListener("click", () => this.act());
    node.append(this.words, this.button);
    this.widget = new Widget({ node });
    this.widget.addClass("attn-bar");
    this.widget.hide();
  }

  /** { words, label, act }, or null for nothing. */
  show(what) {
    const hadKeys = !what && this.widget.node.contains(document.activeElement);
    this.widget.setHidden(!what);
    if (hadKeys) this.back();
    if (!what) return;
    this.words.textContent = what.words;
    this.button.textContent = what.label;
    this.act = what.act;
  }

  /** What was said of a Python that has run nothing is no longer so; what is going on stays. */
  outdate() {
    if (this.act !== this.stop) this.show(null);
  }

  /** What is going on, with a button that ends it. */
  say(words) {
    this.show({ words, label: "Stop", act: this.stop });
  }
}
