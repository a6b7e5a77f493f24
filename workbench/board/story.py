"""StoryBoard: a small GPT that runs in the page, on words that can be changed, with maps of what each head hears."""

import copy
import html
import json
from collections.abc import Callable

import torch
from torch import nn

from . import modules
from .live import PAGE, STYLE, LiveBoard

PARTS = ("norm1", "attention", "norm2", "mlp")  # of a block
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
TEMPERATURES = (0.1, 2.0)
SEEDS = 9999

CONDITIONS: dict[str, Callable] = {  # (board as it stands) → bool; the page has the same in story/conditions.js
    "says": lambda board, word, least: board.shares_at(-1)[word] >= least,
    "one_word_off": lambda board, text: _differ(board.text.split(), text.split()) == 1,
    "all_heads": lambda board: not board.settings["out"],
}


class StoryBoard(LiveBoard):
    """A text, word by word, and what a small GPT makes of it: the next word, each head's map, how it goes on.

    model: an `attn_lib.GPT`, or one with its parts, with any number of heads and blocks; vocabulary: its words, the one
    that begins and ends a text first; text: words to start from; tries: phrase → what it sets (text, place,
    temperature, top, out, seed); judge: the `Grammar` that stories are judged by. Read back what stands there with
    `text`, `shares`, `maps` and `settings`.
    Raises: TypeError for a model without one of these parts, ValueError for a word that is not in the vocabulary.
    """

    _esm = modules.joined(PAGE / "story" / "page.js")
    _css = STYLE

    def __init__(self, model, vocabulary, text="", tries=None, task=None, judge=None, title="A sentence of your own"):
        self.title, self._task, self._grammar, self.vocabulary = title, task, judge, list(vocabulary)
        self._parts = _parts_of(model, len(self.vocabulary))
        self._model = _in_halves(model)
        self._projections = [block.attention.out_proj.weight.clone() for block in self._model.blocks]
        self._start = {"text": self._words(text)}
        self._now = dict(self._start)
        self._settings = {"place": -1, "temperature": 1.0, "top": 0, "out": [], "head": -1, "seed": 1, "yours": -1}
        self._begin(tries, {"weights": self._bytes()})

    def _words(self, text):
        words = text.split() if isinstance(text, str) else list(text)
        known = set(self.vocabulary[1:])
        if strange := [word for word in words if word not in known]:
            raise ValueError(f"{strange[0]!r} is none of the {len(known)} words of the vocabulary")
        if len(words) >= self._parts["places"]:
            raise ValueError(f"the model has {self._parts['places']} places, the text has {len(words)} words")
        return words

    # ------------------------------------------------------------------------------------------------- read back

    @property
    def text(self):
        """The words that stand there."""
        return " ".join(self._now["text"])

    @property
    def place(self):
        """The chosen place: 0 is that of the sign that begins a text, 1 that of the first word."""
        place = self._settings["place"]
        return len(self._now["text"]) if place < 0 else place

    @property
    def shares(self):
        """Word → share of the next place after the chosen one, at temperature 1."""
        return self.shares_at(self.place)

    def shares_at(self, place):
        return dict(zip(self.vocabulary, self._logits[place].softmax(-1).tolist(), strict=True))

    @property
    def maps(self):
        """What each place hears: (heads of all blocks, places, places)."""
        return self._maps.clone()

    # -------------------------------------------------------------------------------------------- hear and judge

    def _with(self, values):
        state = self._as_state(self._revision + 1)
        state["settings"] |= {"place": -1, "yours": -1} if "text" in values else {}
        for name, value in values.items():
            if name == "text":
                state["inputs"]["text"] = self._words(value)
            elif name in self._settings:
                state["settings"][name] = value
            else:
                raise ValueError(f"{name!r} is nothing that is set here; there are {['text', *self._settings]}")
        return state

    def _read(self, state):
        words, settings = self._words(state["inputs"]["text"]), state["settings"]
        heads = self._parts["heads"] * self._parts["blocks"]
        may = {  # what each may be
            "place": range(-1, len(words) + 1),
            "top": range(len(self.vocabulary) + 1),
            "head": range(-1, heads),
            "seed": range(1, SEEDS + 1),
            "yours": range(-1, len(words) + 1),
        }
        read = {name: settings[name] for name in self._settings}
        for name, among in may.items():
            if type(read[name]) is not int or read[name] not in among:
                raise ValueError(f"{name} cannot be {str(read[name])[:20]}")
        if not TEMPERATURES[0] <= float(read["temperature"]) <= TEMPERATURES[1]:
            raise ValueError(f"temperature cannot be {str(read['temperature'])[:20]}")
        if not all(type(head) is int and head in range(heads) for head in read["out"]):
            raise ValueError(f"no such heads: {str(read['out'])[:20]}")
        return {"text": words}, read

    def _compute(self):
        """Read the text with the copy that the page has; a head is out if the output projection takes nothing of it."""
        tokens, heads = torch.tensor([[0, *map(self.vocabulary.index, self._now["text"])]]), self._parts["heads"]
        for number, (block, whole) in enumerate(zip(self._model.blocks, self._projections, strict=True)):
            taken = whole.clone().unflatten(1, (heads, -1))  # (d, heads, head_dim)
            taken[:, [head % heads for head in self._settings["out"] if head // heads == number]] = 0
            block.attention.out_proj.weight.copy_(taken.flatten(1))
        logits, maps = self._model(tokens)
        self._logits, self._maps = logits[0], torch.cat(maps, dim=1)[0]
        holds = self._task and all(CONDITIONS[kind](self, *rest) for kind, *rest in self._task.conditions)
        self._reached = self._reached or bool(holds)
        return ""

    # ------------------------------------------------------------------------------------------------- describe

    def _bytes(self):
        """All weights as float16, one after the other, in the order of the layout."""
        flat = torch.cat([weight.detach().flatten() for _, weight in self._parts["weights"]])
        return flat.half().numpy().tobytes()

    def _describe(self):
        own = ("d", "hidden", "heads", "blocks", "activation", "eps", "places")
        described = {name: self._parts[name] for name in own} | {"kind": "story", "heading": self.title}
        described |= {"vocabulary": self.vocabulary, "tries": self.tries}
        described["grammar"] = self._grammar and self._grammar.as_data()
        described["layout"] = [[name, list(weight.shape)] for name, weight in self._parts["weights"]]
        task = ("text", "conditions", "why", "answers", "right", "because")
        described["task"] = self._task and {name: getattr(self._task, name) for name in task}
        described["start"] = {"inputs": self._start, "settings": self._start_settings}
        return json.loads(json.dumps(described))

    def __repr__(self):
        return f"{self.title}: {self.text or self.vocabulary[0]}"

    def tables(self, words="run the cell to change these words."):
        """The text, and the five most likely next words with their shares."""
        likely = sorted(self.shares_at(-1).items(), key=lambda item: -item[1])[:5]
        rows = "".join(f"<tr><td>{html.escape(word)}</td><td>{share:.2f}</td></tr>" for word, share in likely)
        return (
            f'<div><p>{html.escape(self.title)}: {words}</p><p dir="auto"><em>{html.escape(self.text)} …</em></p>'
            f"<table><tr><th>next word</th><th>share</th></tr>{rows}</table></div>"
        )


def _differ(one, other):
    """In how many places two lists of words differ; None if they are not of one length."""
    return sum(a != b for a, b in zip(one, other, strict=True)) if len(one) == len(other) else None


def _in_halves(model):
    """A copy of the model whose numbers are those that the page gets, and which computes with float64."""
    made = copy.deepcopy(model).double().eval().requires_grad_(False)
    for parameter in made.parameters():
        parameter.copy_(parameter.half().double())
    return made


def _parts_of(model, words):
    """What the page needs of a model: its sizes, and its weights by the names that the page gives them."""
    missing = [name for name in ("token", "place", "blocks", "norm", "says") if not hasattr(model, name)]
    missing += [name for name in PARTS if not missing and not all(hasattr(block, name) for block in model.blocks)]
    if missing:
        raise TypeError(
            f"a story board takes a model as attn_lib.GPT is; this {type(model).__name__} has no {missing[0]}"
        )
    if model.token.num_embeddings != words:
        raise ValueError(f"the model has {model.token.num_embeddings} tokens, the vocabulary has {words} words")
    first = model.blocks[0]
    layers = {}
    for k, block in enumerate(model.blocks):
        layers |= {f"{k}.norm1": block.norm1, f"{k}.norm2": block.norm2}
        layers |= {f"{k}.mlp.0": block.mlp[0], f"{k}.mlp.2": block.mlp[2]}
        layers |= {f"{k}.attention.{name}": getattr(block.attention, name) for name in PROJECTIONS}
    layers |= {"norm": model.norm, "says": model.says}
    own = [(f"{name}.{which}", weight) for name, layer in layers.items() for which, weight in layer.named_parameters()]
    norms = [norm for block in model.blocks for norm in (block.norm1, block.norm2)]
    return {
        "weights": [("token", model.token.weight), ("place", model.place.weight), *own],
        "blocks": len(model.blocks),
        "heads": first.attention.num_heads,
        "d": model.token.embedding_dim,
        "hidden": first.mlp[0].out_features,
        "places": model.place.num_embeddings,
        "activation": _activation(first.mlp[1]),
        "eps": [norm.eps for norm in (*norms, model.norm)],
    }


def _activation(module):
    if isinstance(module, nn.ReLU):
        return "relu"
    if isinstance(module, nn.GELU) and module.approximate == "none":
        return "gelu"
    raise TypeError(f"a story board's page knows nn.GELU() and nn.ReLU(), not {module}")
