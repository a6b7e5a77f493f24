"""Why a test lets its patient pass: the reason is named, and it is true."""

import itertools

import torch
from known_bugs import BUGS, alike, calls_of, each_bug, outcome

import attn_lib
from workbench.exercises import check
from workbench.exercises.clinic import correct, interfaces
from workbench.exercises.clinic.anonymous import instance_of
from workbench.exercises.clinic.judge_test import Evidence, watched


def differs(right, *args, atol=1e-4, of=lambda output: output):
    """A test that compares with correct code in one call."""
    return lambda attention: not torch.allclose(of(attention(*args)), of(right(*args)), atol=atol)


def blind_tests():
    """{(id, test): blind spot}: tests that let the patient pass, and why."""
    torch.manual_seed(1)
    ones, (q, k, v) = torch.ones(2, 3, 4), torch.randn(3, 2, 4, 6)
    x, w, causal = torch.randn(3, 4, 6), torch.randn(4, 6, 6), attn_lib.causal_mask(4)
    plain = differs(correct.by_library, q, k, v)
    lively = differs(correct.by_library, q, k, v, causal)
    lengths, of_heads = torch.tensor([2, 4]), correct.lengths_per_head
    real = differs(correct.with_lengths(), q, q, q, lengths, of=lambda output: output[0, :2])
    one_sentence = differs(correct.list_of_heads, x[:1], *w, 3, causal[None], atol=1e-3)
    text, read = torch.randn(2, 1, 1, 6, 4), correct.read_with_a_cache
    whole, singles, cut = ([6], 9), ([3, 1, 1, 1], 9), ([4, 2], 9)
    asks, offers = text
    rows, table, of_texts = torch.randn(1, 5, 4), torch.randn(8, 4), correct.of_texts()
    alone, padded, packed = (torch.tensor([row]) for row in ([1, 1, 1, 1, 1], [0, 0, 1, 1, 1], [1, 1, 2, 2, 2]))

    def reads(q, how):
        return differs(read, q, offers, offers, *how)

    short, long = interfaces.with_gates(), interfaces.with_gates(n=14)

    def with_open_gates(q, k, v, keep, rate):
        return differs(correct.by_states, q, k, v, torch.ones_like(keep), rate)

    def in_training(attention):
        return not bool(attention(q, k, v).isfinite().all()) or bool((attention(q, k, v) == 0).all())

    return {
        **{(id, differs(correct.by_library, *[ones] * 3)): "constant-input" for id in ("6.1", "6.5", "6.9", "6.11")},
        **{(id, plain): "no-mask" for id in ("6.5", "6.6", "6.7", "6.8", "6.9", "6.10", "6.11")},
        ("6.9", lively): "tame-scores",
        ("6.10", lively): "no-dead-row",
        ("6.11", lively): "no-dead-row",
        ("6.12", real): "real-tokens-only",
        ("6.13", differs(correct.with_both(), q, q, q, lengths)): "never-both",
        ("6.14", differs(correct.causal_of(), q, k, v)): "square-only",
        ("6.15", in_training): "only-in-training",
        ("6.16", differs(correct.list_of_heads, x, *w, 1, atol=1e-3)): "one-head",
        ("6.17", differs(correct.list_of_heads, x, *w, 3, atol=1e-3)): "sizes-divide",
        ("6.18", differs(of_heads, q, q, q, torch.tensor([3, 4]), 1)): "one-head",
        ("6.18", differs(of_heads, q, q, q, torch.tensor([4, 4]), 2)): "equal-lengths",
        ("6.19", one_sentence): "one-sequence",
        ("6.19", differs(correct.list_of_heads, x, *w, 3, atol=1e-3)): "no-mask",
        **{(id, reads(asks, whole)): "at-once" for id in ("6.22", "6.23", "6.24", "6.26")},
        ("6.23", reads(asks, singles)): "one-new-token",
        ("6.24", reads(0 * asks, cut)): "nobody-asks",
        ("6.25", reads(asks, singles)): "nothing-shared",
        ("6.25", reads(asks.expand(1, 4, 6, 4), cut)): "nothing-shared",
        ("6.26", reads(asks, cut)): "within-the-window",
        ("6.30", differs(correct.tiled(), q, k, v, 9, False)): "in-one-block",
        ("6.31", differs(correct.tiled(), q, k, v, k.size(-2), True)): "whole-blocks",
        ("6.32", differs(correct.tiled(), q, k, v, 2, False)): "not-causal",
        ("6.38", differs(of_texts, rows, table, alone)): "nothing-before",
        ("6.38", differs(of_texts, rows, 0 * table, padded)): "no-places",
        ("6.39", differs(of_texts, rows, table, padded)): "one-text-in-a-row",
        ("6.39", differs(of_texts, rows, 0 * table, packed)): "no-places",
        ("6.40", reads(asks, whole)): "at-once",
        ("6.40", reads(asks, singles)): "one-new-token",
        ("6.41", differs(correct.with_both(), q, q, q, lengths, causal)): "not-both-at-once",
        **{(id, with_open_gates(*long)): "open-gates" for id in ("6.42", "6.44")},
        ("6.44", differs(correct.by_states, *short)): "at-most-two-chunks",
        ("6.33", differs(correct.whole_pass(), x, *w, 3, [2, 2], torch.tensor([4, 4, 4]))): "at-most-two-chunks",
    }


def test_a_blind_spot_of_a_test_is_named():
    told = blind_tests()
    for (id, detects), name in told.items():
        verdict = check(id, detects)
        assert verdict.misconception == name, (id, name, verdict)
    spots = {(id, name) for id, bug in BUGS.items() for name in bug.misconceptions if name != "constant-input"}
    missing = spots - {(id, name) for (id, _), name in told.items()}
    assert not missing, f"blind_tests() needs a test that lets the patient pass for this reason: {missing}"


def test_no_call_is_too_odd_for_a_blind_spot():
    odd = ["word", 0, (), torch.tensor(True), torch.zeros(0), torch.zeros(0, dtype=torch.bool)]
    for id, bug in BUGS.items():
        names = [parameter.partition("=")[0] for parameter in bug.interface.parameters]
        for spot, value in itertools.product(bug.misconceptions.values(), odd):
            assert spot.applies(Evidence(calls=[dict.fromkeys(names, value)])) in (True, False), (id, spot.id)


@each_bug
def test_the_librarys_own_test_has_no_blind_spot(id):
    evidence = Evidence()
    torch.manual_seed(0)
    BUGS[id].reference(watched(instance_of(BUGS[id].buggy), BUGS[id].interface, evidence, []))
    spots = [spot.id for spot in BUGS[id].misconceptions.values() if spot.applies(evidence)]
    assert evidence.calls and spots == []


MORE_CALLS = {  # that cannot show every bug of their signature
    interfaces.HEADS: [interfaces.projected(num_heads=1), (*interfaces.projected(batch=1), torch.ones(1, 5, 5).bool())],
    interfaces.MERGED: [(*interfaces.qkv(n_q=5, d_k=6, d_v=6), torch.tensor([4, 4]), 3)],
    interfaces.CHUNKS: [
        interfaces.reads([3, 2], 9, heads=3, kv_heads=1),
        interfaces.reads([3, 1, 1], 3),
        interfaces.reads([2, 2, 2], 5),
    ],
}


@each_bug
def test_a_call_in_a_blind_spot_cannot_show_the_bug(id):
    bug = BUGS[id]
    for args in [*calls_of(bug), *MORE_CALLS.get(bug.interface, [])]:
        blind = Evidence(calls=[bug.interface.named(args, {}) | {"training": False}])
        spots = [spot.id for spot in bug.misconceptions.values() if spot.applies(blind)]
        if spots and spots != ["real-tokens-only"]:  # which is about what a test looks at, not about its calls
            for code in (bug.buggy, *bug.variants.values()):
                assert alike(outcome(bug.called(code), args), outcome(bug.called(bug.fixed), args)), spots
