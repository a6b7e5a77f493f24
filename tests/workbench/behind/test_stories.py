"""Lesson 11's machinery: the judge, the counting and the writing say what is true of stories that are known."""

import math

import pytest
import torch

from attn_lib import GPT
from workbench.behind import stories

SOUND = (
    "one day bob had a key and two books . but the key near the cat was gone . he asked fay : where is my key ? "
    "fay said : it is in the box . bob found his key in the box . he kissed fay because she had helped ."
)


@pytest.fixture(scope="module")
def language():
    return stories.Language()


class Reader(torch.nn.Module):
    """Says the true next word of the test's stories, or always the sign |; it hears nothing."""

    def __init__(self, language, is_right):
        super().__init__()
        self.language, self.is_right = language, is_right

    def forward(self, tokens, **options):
        due = self.language.unseen[:, 1:] * self.is_right
        return torch.nn.functional.one_hot(due, len(self.language.vocabulary)).double(), []


def test_stories_of_the_test_were_never_read(language):
    assert (len(language.known), len(language.unseen), len(language.vocabulary)) == (3000, 400, 68)
    assert not language.read & {" ".join(words) for words, _ in language.stories[3000:]}
    words, row = language.stories[0][0], language.known[0].tolist()
    assert [language.vocabulary[i] for i in row[1 : 1 + len(words)]] == words and row[0] == row[-1] == 0


def test_the_judge_passes_true_stories_and_names_what_is_wrong(language):
    assert not any(language.wrong_with(" ".join(words)) for words, _ in language.stories[:200])
    for right, wrong, says in [
        ("where is", "where are", ("ARE", "are, where is follows")),
        ("she had helped", "he had helped", ("Who", "he, where she follows")),
        ("fay", "bob", ("friend", "bob asks bob")),
        ("two books", "two keys", ("two of a kind", "key and keys")),
    ]:
        assert says in language.wrong_with(SOUND.replace(right, wrong)), wrong
    assert language.wrong_with(SOUND[:-1]) == [("form", "it is no story of this kind")]


def test_faults_are_counted_by_what_comes_first(language):
    texts = [SOUND, SOUND.replace("fay", "bob"), SOUND.replace("where is", "where are"), "the keys near the cat"]
    assert {kind: len(found) for kind, found in language.faults_of(texts).items()} == {
        "grammar": 1, "form": 1, "forbidden": 1,
    }  # fmt: skip


def test_right_is_1_for_who_knows_and_0_for_who_ends_the_text(language):
    assert set(language.right(Reader(language, True)).values()) == {1.0}
    assert language.right(Reader(language, False))["all"] == 0


def test_what_likely_comes_next_adds_up_and_strange_words_are_named(language):
    torch.manual_seed(0)
    model = GPT(68, 55)
    assert math.isclose(language.after(model, "one day bob").total(), 1, abs_tol=1e-6)
    assert language.likeliest(model, "one day").count(",") == 2
    assert language.likeliest(model, "one elephant") == "it has not read all of these words"


def test_training_lowers_the_loss_and_all_heads_out_is_deaf(language):
    torch.manual_seed(0)
    model = GPT(68, 55)
    before = language.right(model)["all"]
    assert list(stories.train(model, language.known, 20)) == [*range(1, 21)]
    assert language.right(model)["all"] > before
    deaf = stories.without(model, 0, 1, 2, 3)
    one, other = (
        torch.tensor([[0, *map(language.number.get, text.split())]]) for text in ("one day bob", "then the bob")
    )
    assert deaf(one)[0][0, -1].equal(deaf(other)[0][0, -1]) and not model(one)[0][0, -1].equal(model(other)[0][0, -1])


def test_a_language_of_ones_own_is_drawn_learned_and_judged():
    girls = ["小红"]

    def follows(drawn):
        return drawn | {"SHE": "she" if drawn["HERO"] in girls else "he"}

    def story(r):
        hero, friend = r.sample(["小明", *girls], 2)
        slots = follows({"HERO": hero, "FRIEND": friend, "THING": "cup", "OTHER": "hat"})
        template = ["Hero", "had", "a", "Thing", "and", "a", "Other", ".", "SHE", "asked", "Friend", "."]
        return [slots.get(word.upper(), word) for word in template], template

    own = stories.Language([["Hero had a Thing and a Other ."], ["SHE asked Friend ."]], follows, story, girls)
    model = GPT(len(own.vocabulary), own.length)
    assert next(stories.train(model, own.known, 1)) == 1
    assert own.wrong_with("小红 had a cup and a hat . he asked 小明 .") == [("SHE", "he, where she follows")]
    assert own.judge.begins()
