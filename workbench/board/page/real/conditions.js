// What a task can ask for, as CONDITIONS of real.py.

export const CONDITIONS = {
  says_less: (engine, piece, most) => (engine.next.find((row) => row.piece === piece)?.share ?? 0) < most,
  one_out: (engine) => engine.state.settings.out.length === 1,
  text_is: (engine, text) => engine.text === text,
};
