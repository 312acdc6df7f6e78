"""LLMLingua-2 through the library's real code, on a tiny classifier: labels are labels, and they find their turn."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_features import tiny_llmlingua2

from tpbench_data.errors import BadInput
from tpbench_data.selectors import SelectionInput
from tpbench_generate.selectors import labeller as labeller_module
from tpbench_generate.selectors.labeller import Labeller, open_labeller
from tpbench_generate.selectors.llmlingua2 import PART_TOKENS, LLMLingua2
from tpbench_generate.selectors.word_labels import (
    WORD_SEPARATOR,
    LabelledWord,
    Reading,
    Token,
    labels_by_turn,
    mean_labels,
    parse_labels,
)

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("llmlingua", reason="llmlingua is not installed")

TEXTS = ["I want a hotel in Paris for 2 people.", "The price is $45.00.", "", "Call 01223 351241 0 1 1.", "Change it!"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"hf:{tiny_llmlingua2(tmp_path_factory.mktemp('labels'))}"


@pytest.fixture(scope="module")
def tool(model: str) -> Labeller:
    return open_labeller(model, "words", "cpu")


def item(texts: list[str]) -> SelectionInput:
    return SelectionInput("x", ["user", "system"] * len(texts), texts, "question?", ())


# Labels as labels


@given(st.lists(st.tuples(st.from_regex(r"[0-9.,:$a-z]{0,8}", fullmatch=True), st.sampled_from("01")), min_size=1))
def test_digits_of_the_dialogue_never_change_a_label(words: list[tuple[str, str]]) -> None:
    text = WORD_SEPARATOR.join(f"{word} {label}" for word, label in words)
    assert parse_labels(text, "turn 0") == [LabelledWord(word, int(label)) for word, label in words]


def test_a_word_with_a_blank_or_no_text_keeps_its_label() -> None:
    assert parse_labels(f"a 0 1{WORD_SEPARATOR} 0", "turn 0") == [LabelledWord("a 0", 1), LabelledWord("", 0)]


@pytest.mark.parametrize(
    "text", ["", "word", "word 2", "word 0.5", "word 01", "word 1 ", "5 x", f"a 1{WORD_SEPARATOR}b"]
)
def test_malformed_labels_stop_with_the_number_of_the_turn(
    text: str, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = LLMLingua2(model=model, token_counts="words")
    tool = open_labeller(model, "words", "cpu")
    real = tool.labelled
    monkeypatch.setattr(tool, "labelled", lambda parts, rate: text if "Change" in parts[0] else real(parts, rate))
    with pytest.raises(BadInput, match=r"turn 4 of x"):
        method.keep(item(TEXTS), 0.4)


def test_a_price_in_the_dialogue_does_not_lift_its_turn(model: str, tool: Labeller) -> None:
    """The fault of the first published adapter: it averaged every number of the labelled text."""
    method = LLMLingua2(model=model, token_counts="words")
    scores = method.scores(item(["Pay 999 999 999 now please", "Pay one now please friend"]))
    assert all(0 <= score <= 1 for score in scores)
    labels = tool.labelled(("Pay 999 999 999 now please",), 0.5)
    assert scores[0] == mean_labels([int(part[-1]) for part in labels.split(WORD_SEPARATOR)])


# One call per turn, as published


def test_a_turn_scores_the_mean_of_the_library_s_own_labels(model: str, tool: Labeller) -> None:
    found = tool._compressor.compress_prompt([TEXTS[0]], rate=0.5, force_tokens=[], return_word_label=True)[
        "fn_labeled_original_prompt"
    ].split(WORD_SEPARATOR)
    labels = [int(part.rsplit(" ", 1)[1]) for part in found]
    assert 0 < sum(labels) < len(labels)
    scores = LLMLingua2(model=model, token_counts="words").scores(item([f"  {TEXTS[0]} ", "", " "]))
    assert scores == [sum(labels) / len(labels), 0.0, 0.0]


def test_one_call_per_turn_gives_every_turn_about_the_rate(model: str) -> None:
    turns = [f"word{i} one two three four five six seven eight nine ten" for i in range(12)]
    scores = LLMLingua2(model=model, token_counts="words").scores(item(turns))
    assert all(0.3 <= score <= 0.6 for score in scores), "the threshold is a percentile within the call"


@pytest.mark.parametrize("text", ["好的，我要去厦门。", "at 东京 ok"])
def test_a_turn_without_spaces_is_refused_per_turn_and_labelled_per_dialogue(model: str, text: str) -> None:
    with pytest.raises(BadInput, match=r"turn 1 of x .*mode=per_dialogue"):
        LLMLingua2(model=model, token_counts="words").keep(item(["ok", text]), 0.5)
    LLMLingua2(model=model, token_counts="words", mode="per_dialogue").keep(item(["ok", text]), 0.5)


# One call per dialogue


def test_per_dialogue_labels_lie_in_their_turns(model: str, tool: Labeller) -> None:
    reading = tool.read(TEXTS)
    words = parse_labels(tool.labelled(reading.parts(PART_TOKENS), 0.5), "x")
    by_turn = labels_by_turn(words, reading.tokens, len(TEXTS), "x")
    assert by_turn[2] == []
    counts = [len([w for w in parse_labels(tool.labelled((t,), 0.5), "x") if w.word]) if t else 0 for t in TEXTS]
    assert [len(labels) for labels in by_turn] == counts, "each turn has the words it has alone"
    assert [label for turn in by_turn for label in turn] == [word.label for word in words if word.word]
    scores = LLMLingua2(model=model, token_counts="words", mode="per_dialogue").scores(item(TEXTS))
    assert scores == [mean_labels(labels) for labels in by_turn]


def test_a_dialogue_longer_than_the_model_s_window_is_cut_between_turns(model: str, tool: Labeller) -> None:
    texts = [f"{text} again and again" for text in TEXTS] * 30
    reading = tool.read(texts)
    parts = reading.parts(PART_TOKENS)
    assert "".join(parts) == reading.text == "\n".join(texts)
    assert len(parts) > 2
    for part in parts[:-1]:
        assert part.endswith("\n"), "no turn is torn"
    scores = LLMLingua2(model=model, token_counts="words", mode="per_dialogue").scores(item(texts))
    assert len(scores) == len(texts)


@pytest.mark.parametrize("turn", ["word " * 900, "x" * 1500, "我要去厦门" * 250])
def test_one_turn_longer_than_the_window_is_labelled_whole(model: str, tool: Labeller, turn: str) -> None:
    reading = tool.read([turn, "ok"])
    assert len(reading.tokens) > 512
    words = parse_labels(tool.labelled(reading.parts(PART_TOKENS), 0.5), "x")
    labels_by_turn(words, reading.tokens, 2, "x")  # raises where a word is lost


def test_words_that_are_not_the_text_are_refused_with_the_turn() -> None:
    tokens = [Token("good", 0, 0, True), Token("bye", 1, 5, True)]
    assert labels_by_turn([LabelledWord("good", 1), LabelledWord("bye", 0)], tokens, 2, "x") == [[1], [0]]
    for words in (["good"], ["good", "by"], ["good", "buy"], ["good", "bye", "all"], ["bye"]):
        with pytest.raises(BadInput, match=r"where turn (0|1|the last) of x goes on"):
            labels_by_turn([LabelledWord(word, 1) for word in words], tokens, 2, "x")


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=40), st.integers(1, 9))
def test_parts_are_the_text_and_never_longer_than_the_limit(steps: list[tuple[int, bool]], limit: int) -> None:
    turn, tokens = 0, []
    for place, (step, begins) in enumerate(steps):
        turn += step == 3
        tokens.append(Token("a", turn, place, begins))
    reading = Reading("a" * len(tokens), tokens)
    parts = reading.parts(limit)
    assert "".join(parts) == reading.text
    assert all(len(part) <= limit for part in parts)


# What the library's constructor does besides


def test_no_global_generator_or_hash_seed_is_touched(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    random.seed(5)
    np.random.seed(5)
    torch.manual_seed(5)
    before = (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist())
    Labeller(model, "words", "cpu")
    after = (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist())
    assert before == after
    assert "PYTHONHASHSEED" not in os.environ


def test_without_network_the_published_table_is_asked_for_in_words(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import tiktoken

    def offline(name: str) -> None:
        raise ConnectionError("no network")

    monkeypatch.setattr(tiktoken, "get_encoding", offline)
    with pytest.raises(BadInput, match="token_counts=words"):
        LLMLingua2(model=model).keep(item(TEXTS), 0.4)
    assert LLMLingua2(model=model, token_counts="words").keep(item(TEXTS), 0.4)


def test_a_version_whose_labels_were_never_checked_is_refused(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labeller_module.metadata, "version", lambda name: "0.3.0")
    with pytest.raises(BadInput, match=r"pip install llmlingua==0\.2\.2"):
        Labeller(model, "words", "cpu")


def test_a_folder_whose_name_says_nothing_is_refused(tmp_path: Path) -> None:
    folder = tiny_llmlingua2(tmp_path)
    renamed = folder.rename(folder.with_name("mine"))
    with pytest.raises(BadInput, match="must contain xlm-roberta-large"):
        LLMLingua2(model=f"hf:{renamed}", token_counts="words").keep(item(TEXTS), 0.4)
