"""Lesson 11's machinery: a language of little stories, training on it, and counting what was learned."""

import itertools
import random
from collections import Counter

import torch

from attn_lib import GPT, next_shares, next_token_loss, read_on, without_head

from ..board.grammar import Grammar

GIRLS, BOYS = ["ann", "eve", "fay", "mia", "zoe"], ["bob", "dan", "gus", "max", "tom"]
THINGS, PLACES = ["ball", "book", "cup", "hat", "key", "kite"], ["bed", "box", "door", "tree"]
SENTENCES = [  # a Capital is drawn by lot, ALL CAPITALS follow from what was drawn
    ["", "one day"],
    ["Hero had Two Thing and More Other .", "Hero had More Other and Two Thing ."],
    ["then SHE lost the Thing .", "but the Thing near the Cat WERE gone ."],
    ["SHE asked Friend : where ARE my THING ?"],
    ["FRIEND said : THEY ARE In the Bed ."],
    ["HERO found HER THING IN the BED ."],
    ["SHE kissed FRIEND because Who WAS GLAD ."],
]
TELLS = {  # slot → the slots whose words it follows from
    **{slot: ["HERO", "SHE"] for slot in ("SHE", "HER")},
    **{slot: [slot] for slot in ("HERO", "FRIEND", "THING", "IN", "BED")},
    "WERE": ["THING"],
    "ARE": ["THING", "ARE"],
    "THEY": ["ARE", "THING"],
    "WAS": ["SHE", "HERO", "FRIEND"],
}
FORBIDDEN = "friend", "two of a kind"  # faults that nothing but a word drawn twice can make
LENGTH = 55  # tokens of a row: the sign |, a story, and | to the end


def follows(drawn):
    """What stands in every slot, of what was drawn."""
    she, he = ("she" if drawn[who] in GIRLS else "he" for who in ("HERO", "FRIEND"))
    many, more = (drawn[what].endswith("s") for what in ("THING", "OTHER"))
    helped = drawn["GLAD"] == "helped"
    return drawn | {
        "TWO": "two" if many else "a", "MORE": "two" if more else "a", "THEY": "they" if many else "it",
        "WERE": "were" if many else "was", "ARE": "are" if many else "is", "HER": "her" if she == "she" else "his",
        "SHE": she, "WHO": he if helped else she, "WAS": "had" if helped else "was",
    }  # fmt: skip


def story(r):
    """A story's words, and for each word its slot or itself; r, a `random.Random`, draws."""
    hero, friend = r.sample(GIRLS + BOYS, 2)
    thing, other = r.sample(THINGS, 2)
    one, single, helped = (r.random() < 0.5 for _ in range(3))
    slots = follows({
        "HERO": hero, "FRIEND": friend, "THING": thing + "s" * (not one), "OTHER": other + "s" * (not single),
        "CAT": r.choice(["cat", "cats", "dog", "dogs"]), "IN": r.choice(["under", "behind", "in"]),
        "BED": r.choice(PLACES), "GLAD": "helped" if helped else "glad",
    })  # fmt: skip
    template = [word for forms in SENTENCES for word in r.choice(forms).split()]
    return [slots.get(word.upper(), word) for word in template], template


class Language:
    """Stories drawn from templates, as words and as numbers, and what can be said of them since all is drawn.

    sentences, follows and story: as above, the lesson's own unless others are given; girls: the names of which *she* is
    said. It has stories, pairs of words and template: 3000 to learn from and 400 for the test; known and unseen, the
    same as tokens (stories, length); read, a set of the known as text; vocabulary; number, word → token; and judge, a
    `Grammar` of them.
    """

    def __init__(self, sentences=SENTENCES, follows=follows, story=story, girls=GIRLS):
        r = random.Random(0)
        self.sentences, self.follows, self.girls = sentences, follows, girls
        self.stories = [story(r) for _ in range(3400)]
        may = {}  # slot → the words that were seen there
        for words, template in self.stories:
            for word, slot in zip(words, template, strict=True):
                may.setdefault(slot.upper(), set()).add(word)
        self.judge = Grammar(sentences, may, follows)
        self.vocabulary = ["|", *sorted({word for words, _ in self.stories for word in words})]
        self.number = {word: i for i, word in enumerate(self.vocabulary)}
        self.length = max(LENGTH, 2 + max(len(words) for words, _ in self.stories))
        rows = torch.tensor([self._tokens(words) for words, _ in self.stories])  # (3400, length)
        self.known, self.unseen = rows[:3000], rows[3000:]
        self.read = {" ".join(words) for words, _ in self.stories[:3000]}

    def __str__(self):
        return "\n".join("   or   ".join(form or "(nothing)" for form in forms) for forms in self.sentences)

    def _tokens(self, words):
        return [0, *(self.number[word] for word in words), *[0] * (self.length - 1 - len(words))]

    # ------------------------------------------------------------------------------------- how likely, and how right

    @torch.no_grad()
    def after(self, model, text):
        """How likely each word comes next, the likeliest first; nothing where the text has a word never read."""
        words = ["|", *text.split()]
        if not self.number.keys() >= set(words):
            return Counter()
        logits = model(torch.tensor([[self.number[word] for word in words]]))[0][0, -1]
        shares = zip(self.vocabulary, next_shares(logits).tolist(), strict=True)
        return Counter(dict(sorted(shares, key=lambda one: -one[1])))

    def likeliest(self, model, text):
        """The three likeliest next words, as text."""
        found = [f"{word} {share:.2f}" for word, share in self.after(model, text).most_common(3)]
        return ", ".join(found) or "it has not read all of these words"

    def _due(self):
        """Story, place and slot of each word of the test that can be known."""
        for i, (words, template) in enumerate(self.stories[3000:]):
            alike = (words[template.index("Hero")] in self.girls) == (words[template.index("Friend")] in self.girls)
            for place, slot in enumerate(template, start=1):
                if slot.isupper() and not (slot == "WAS" and alike):
                    yield i, place, slot

    @torch.no_grad()
    def right(self, model):
        """Slot → share of its words in the test that the model holds for the likeliest, of those that can be known.

        Under "all" of all of them together.
        """
        said = model(self.unseen[:, :-1], need_weights=False)[0].argmax(dim=-1)  # (400, length − 1)
        ok, known = Counter(), Counter()
        for i, place, slot in self._due():
            known[slot] += 1
            ok[slot] += int(said[i, place - 1] == self.unseen[i, place])
        return {slot: ok[slot] / known[slot] for slot in known} | {"all": ok.total() / known.total()}

    def suffers(self, model):
        """What a model gets right, and the slots that it gets wrong, as text."""
        *lost, (_, whole) = sorted(self.right(model).items(), key=lambda one: (one[0] == "all", one[1]))
        return f"{whole:.3f} right; " + ", ".join(f"{slot} {share:.2f}" for slot, share in lost if share < 0.95)

    @torch.no_grad()
    def heard(self, model):
        """Slot → what each head of the first block hears, on average, of the words from which the slot follows."""
        maps = model(self.unseen[:, :-1])[1][0]  # (400, heads, length − 1, length − 1)
        slots = [["|", *(slot.upper() for slot in template)] for _, template in self.stories[3000:]]
        on = {slot: [] for slot in TELLS}
        for i, place, slot in self._due():
            if slot in on:
                telling = [j for j in range(place) if slots[i][j] in TELLS[slot]]
                on[slot].append(maps[i, :, place - 1, telling].sum(dim=-1))
        return {slot: torch.stack(shares).mean(dim=0) for slot, shares in on.items()}  # (heads,)

    def heads(self, model):
        """`heard` as a table."""
        heard = self.heard(model)
        titles = "".join(f"{f'head {head}':>8}" for head in range(len(next(iter(heard.values())))))
        rows = (f"{slot:8}" + "".join(f"{share:8.2f}" for share in shares) for slot, shares in heard.items())
        return "\n".join([" " * 8 + titles, *rows])

    # ------------------------------------------------------------------------------------------------------ the judge

    def wrong_with(self, text):
        """Pairs of slot and words for all that is wrong with a story, by the templates that fit it best."""
        words = text.split()
        forms = [" ".join(chosen).split() for chosen in itertools.product(*self.sentences)]
        found = [list(self._faults(form, words)) for form in forms if self._is_laid_over(form, words)]
        return min(found, key=len, default=[("form", "it is no story of this kind")])

    def _is_laid_over(self, form, words):
        may = self.judge.may
        return len(form) == len(words) and all(
            word in may[slot.upper()] for slot, word in zip(form, words, strict=True)
        )

    def _faults(self, form, words):
        drawn = {slot.upper(): word for slot, word in reversed(list(zip(form, words, strict=True)))}  # the first counts
        due = self.follows(drawn)
        if drawn["FRIEND"] == drawn["HERO"]:
            yield "friend", f"{drawn['HERO']} asks {drawn['FRIEND']}"
        if drawn["THING"].rstrip("s") == drawn["OTHER"].rstrip("s"):
            yield "two of a kind", f"{drawn['THING']} and {drawn['OTHER']}"
        for slot, word in zip(form, words, strict=True):
            if slot[0].isupper() and word != due[slot.upper()]:
                yield slot, f"{word} in place of {due[slot.upper()]}"

    def faults_of(self, texts):
        """grammar, form and forbidden → what is wrong so, in words; of a text the first fault counts."""
        wrong = {"grammar": [], "form": [], "forbidden": []}
        for slot, words in (found[0] for found in map(self.wrong_with, texts) if found):
            wrong["forbidden" if slot in FORBIDDEN else "form" if slot == "form" else "grammar"].append(words)
        return wrong


# ------------------------------------------------------------------------------------------------------------ a model


def train(model, texts, steps, loss=next_token_loss):
    """Yields each step's number after it, downhill on 16 texts drawn by lot, by Adam; the rate goes up, then down."""
    generator = torch.Generator().manual_seed(0)
    adam = torch.optim.Adam(model.parameters(), betas=(0.9, 0.99))
    for step in range(1, steps + 1):
        batch = texts[torch.randint(len(texts), (16,), generator=generator)]  # (16, length)
        cost = loss(model(batch, need_weights=False)[0], batch)
        adam.param_groups[0]["lr"] = 0.01 * min(step / 50, 1) * (1 - step / (steps + 1))
        adam.zero_grad()
        cost.backward()
        adam.step()
        yield step


@torch.no_grad()
def write(model, vocabulary, how_many, temperature=1.0, top=None, length=LENGTH, seed=0):
    """Texts drawn word by word, with a cache."""
    generator = torch.Generator().manual_seed(seed)
    token, caches, written = torch.zeros(how_many, 1, dtype=torch.long), [None] * len(model.blocks), []
    for _ in range(length - 1):
        logits, caches = read_on(model, token, caches)
        token = torch.multinomial(next_shares(logits[:, -1], temperature, top), 1, generator=generator)  # (how_many, 1)
        written.append(token)
    return [" ".join(vocabulary[t] for t in row).split(" |")[0] for row in torch.cat(written, dim=1).tolist()]


def without(model, *heads):
    """A copy of the model with these heads of its first block silent."""
    cut = GPT(*model.token.weight.shape[:1], *model.place.weight.shape[:1])
    cut.load_state_dict(model.state_dict())
    for head in heads:
        cut.blocks[0].attention = without_head(cut.blocks[0].attention, head)
    return cut
