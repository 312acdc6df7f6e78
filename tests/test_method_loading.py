"""Finding methods: built in, from a file, from entry points; and what is told where one cannot be used."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import Command

from tpbench_data.errors import BadInput
from tpbench_data.names import METHOD_LABELS, method_rank
from tpbench_data.selectors import SelectionInput
from tpbench_generate import methods
from tpbench_generate.kv import KV_METHODS
from tpbench_generate.methods import BUILT_IN, list_methods, load_method, third_party

GOOD = '''
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from tpbench_data.selectors import ScoredSelector, SelectionInput


@dataclass(frozen=True)
class Longest(ScoredSelector):
    """Keeps the turns with the most characters."""

    name: ClassVar[str] = "longest"
    summary: ClassVar[str] = "the turns with the most characters"

    sign: int = 1

    def scores(self, item: SelectionInput) -> Sequence[float]:
        return [self.sign * len(text) for text in item.texts]
'''
ITEM = SelectionInput("x", ["user", "system", "user"], ["a", "aaa", "aa"], "q", ())


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "mine.py"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    third_party.cache_clear()
    yield
    third_party.cache_clear()


def test_a_method_from_a_file_with_settings(write: Callable[[str], Path]) -> None:
    path = write(GOOD)
    loaded = load_method(f"{path}:Longest")
    assert loaded.selector.keep(ITEM, 0.4) == [1]
    assert str(loaded.selector) == "longest"
    assert loaded.origin["file"] == "mine.py"
    assert len(loaded.origin["sha256"]) == 64
    other = load_method(f"{path}:Longest(sign=-1)").selector
    assert other.keep(ITEM, 0.4) == [0]
    assert str(other) == "longest(sign=-1)"
    assert load_method(f"{path}:Longest").selector == loaded.selector, "loaded once per process"


def test_a_changed_file_is_read_again(write: Callable[[str], Path]) -> None:
    first = load_method(f"{write(GOOD)}:Longest")
    second = load_method(f"{write(GOOD.replace('sign: int = 1', 'sign: int = -1'))}:Longest")
    assert first.selector.keep(ITEM, 0.4) != second.selector.keep(ITEM, 0.4)
    assert first.origin["sha256"] != second.origin["sha256"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class Longest", "class Other", "has no class Longest. Methods in it: Other"),
        ("(ScoredSelector)", "", "is not a method"),
        ("@dataclass(frozen=True)", "", "is not a frozen dataclass"),
        ("@dataclass(frozen=True)", "@dataclass(frozen=True, eq=True, order=True)", None),
        ('= "longest"', '= "Longest"', "has no usable name"),
        ('= "longest"', '= "recency"', "which is a method of tpbench"),
        ('= "longest"', '= "snapkv"', "which is a method of tpbench"),
        ('= "the turns with the most characters"', '= ""', "has no summary"),
        ("    sign: int = 1", "    sign: int", "has no default"),
        ("    sign: int = 1", "    sign: tuple[int, ...] = ()", "has the type"),
        ("def scores", "def score", "does not define scores"),
        ("from typing import ClassVar", "from typing import Klass", "ImportError"),
        ("    sign: int = 1", "    sign: int = = 1", "SyntaxError"),
        ("from collections", "raise SystemError('no\\nway')\nfrom collections", "SystemError: no"),
    ],
)
def test_code_that_holds_no_usable_method_is_told(
    write: Callable[[str], Path], old: str, new: str, message: str | None
) -> None:
    assert old in GOOD
    path = write(GOOD.replace(old, new, 1))
    if message is None:
        load_method(f"{path}:Longest")
        return
    with pytest.raises(BadInput) as caught:
        load_method(f"{path}:Longest")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_line_of_a_fault_is_named(write: Callable[[str], Path]) -> None:
    with pytest.raises(BadInput, match="row 3"):
        load_method(f"{write('x = 1' + chr(10) * 2 + 'y = x.no')}:Longest")


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ("[1.0]", "gave 1 scores for 3 turns"),
        ('[1.0, float("nan"), 2.0]', "scored turn 1 with nan"),
        ('[float("inf")] * 3', "scored turn 0 with inf"),
    ],
)
def test_scores_that_break_the_contract_name_the_method_and_the_dialogue(
    write: Callable[[str], Path], scores: str, message: str
) -> None:
    path = write(GOOD.replace("[self.sign * len(text) for text in item.texts]", scores))
    with pytest.raises(BadInput, match=r"method longest .*\(x\)") as caught:
        load_method(f"{path}:Longest").selector.keep(ITEM, 0.4)
    assert message in str(caught.value)


@pytest.mark.parametrize(("picks", "message"), [("[0, 7]", "picked turns"), ("[1] * k", "kept 1 turns, not k = 2")])
def test_picks_that_break_the_contract_are_refused(write: Callable[[str], Path], picks: str, message: str) -> None:
    text = GOOD.replace("ScoredSelector", "Selector").replace(
        "def scores(self, item: SelectionInput)", "def pick(self, item, k)"
    )
    path = write(text.replace("[self.sign * len(text) for text in item.texts]", picks))
    with pytest.raises(BadInput) as caught:
        load_method(f"{path}:Longest").selector.keep(ITEM, 0.67)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["nowhere.py:Longest", "nonsense", "recency(k=1)", "mine.py"])
def test_what_is_no_method_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        load_method(text)


def entry(name: str, loader: Callable[[], object]) -> SimpleNamespace:
    return SimpleNamespace(name=name, value=f"pkg:{name}", load=loader, dist=SimpleNamespace(name="pkg", version="1.2"))


def test_entry_points_add_methods_and_a_broken_one_hides_no_other(
    write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = type(load_method(f"{write(GOOD)}:Longest").selector)

    def fail() -> object:
        raise ImportError("no module named torchx")

    entries = [entry("longest", lambda: kind), entry("broken", fail), entry("renamed", lambda: kind)]
    monkeypatch.setattr(methods.metadata, "entry_points", lambda group: entries if group == "tpbench.methods" else [])
    loaded = load_method("longest(sign=-1)")
    assert isinstance(loaded.selector, kind)
    assert loaded.origin == {"distribution": "pkg 1.2"}
    assert [row["from"] for row in list_methods() if row["name"] == "longest"] == ["pkg 1.2"]
    assert set(third_party().broken) == {"broken", "renamed"}
    with pytest.raises(BadInput, match="torchx"):
        load_method("broken")


def test_the_list_is_in_table_order_and_tells_every_fact(command: Command) -> None:
    rows = json.loads(command("tpbench-generate", "methods", "--json").stdout)
    selectors = [row for row in rows if row["kind"] != "cache method"]
    assert [row["name"] for row in selectors] == sorted(BUILT_IN, key=method_rank)
    assert [row["name"] for row in rows if row["kind"] == "cache method"] == sorted(KV_METHODS, key=method_rank)
    for row in rows:
        assert row["summary"]
        assert row["name"] in METHOD_LABELS
    facts = {row["name"]: row for row in rows}
    assert facts["dycp"]["adaptive"]
    assert facts["dycp"]["settings"] == {"model": "minilm-l6-v2", "max_tokens": "none", "tau": "0.6", "theta": "1.0"}
    assert facts["llmlingua2"]["needs_model"]
    assert facts["llmlingua2"]["paper_protocol"] == {"budget": "floor", "rendering": "plain"}
    assert not facts["bm25"]["needs_model"]
    shown = command("tpbench-generate", "methods").stdout
    for name in facts:
        assert f"\n{name} (" in f"\n{shown}"
