// What a notebook and a page of ours ask of a board's script.

/** One engine for each model, one page for each place where it is shown; made anew if there is none. */
export function widgetFor(Engine, render, engine = null) {
  return {
    initialize({ model }) {
      engine = new Engine(model);
    },
    render({ model, el }) {
      engine ??= new Engine(model);
      return render(engine, el);
    },
  };
}
