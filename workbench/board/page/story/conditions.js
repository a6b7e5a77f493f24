// What a task can ask for, as CONDITIONS of story.py.

const shareOf = (engine, place, word) => engine.shares(place)[engine.number.get(word)];

export const CONDITIONS = {
  says: (engine, word, least) => shareOf(engine, engine.words.length, word) >= least,
  one_word_off(engine, text) {
    const words = text.split(" ");
    return words.length === engine.words.length && words.filter((word, k) => word !== engine.words[k]).length === 1;
  },
  all_heads: (engine) => !engine.state.settings.out.length,
};
