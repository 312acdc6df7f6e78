"""The journal: a kill at any byte loses at most the batch it hit, and damage is never skipped."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tpbench_data.errors import BadInput
from tpbench_generate.journal import Journal, SavedAnswer

BATCHES = (("a", "b"), ("c",), ("d", "e"))
ANSWERS = {
    key: SavedAnswer(f"text of {key}\u2028\n\x0b{{", None, "stop", False, 10, 3, 1)
    for batch in BATCHES
    for key in batch
}


def write(path: Path, numbers: tuple[int, ...] = (0, 1, 2)) -> bytes:
    with Journal(path, BATCHES) as journal:
        for number in numbers:
            journal.append(number, {key: ANSWERS[key] for key in BATCHES[number]})
    return path.read_bytes()


def test_batches_are_read_back_with_separators_inside_texts(tmp_path: Path) -> None:
    data = write(tmp_path / "j", (2, 0))
    assert data.count(b"\n") == 2
    with Journal(tmp_path / "j", BATCHES) as journal:
        assert journal.done == {0, 2}
        assert journal.cut == 0
        assert journal.answers == {key: ANSWERS[key] for key in "abde"}


@given(st.data())
def test_cut_at_any_byte_and_resumed_it_ends_with_the_same_bytes(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "j"
        whole = write(path)
        place = data.draw(st.integers(0, len(whole)))
        path.write_bytes(whole[:place])
        with Journal(path, BATCHES) as journal:
            assert journal.done == set(range(whole[:place].count(b"\n")))
            assert journal.cut == place - (whole[:place].rfind(b"\n") + 1)
            for number in range(len(BATCHES)):
                if number not in journal.done:
                    journal.append(number, {key: ANSWERS[key] for key in BATCHES[number]})
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "is damaged"),
        (b"\xff", "is damaged"),
        (b"[1]", "is damaged"),
        (b'{"batch": 1}', "is damaged"),
        (b'{"batch": 1, "answers": {"c": {"text": "x"}}}', "is damaged"),
        (b'{"batch": 9, "answers": {}}', "names a batch that the plan lacks"),
        (b'{"batch": true, "answers": {}}', "names a batch that the plan lacks"),
        (b'{"batch": 1, "answers": {}}', "does not fit batch 1"),
    ],
)
def test_damage_before_the_last_line_is_an_error_with_its_row(tmp_path: Path, line: bytes, reason: str) -> None:
    first, _, third = write(tmp_path / "j").splitlines()
    (tmp_path / "j").write_bytes(b"\n".join([first, line, third]) + b"\n")
    with pytest.raises(BadInput, match=f"row 2.*{reason}"):
        Journal(tmp_path / "j", BATCHES)


def test_the_same_batch_twice_is_an_error(tmp_path: Path) -> None:
    data = write(tmp_path / "j", (0,))
    (tmp_path / "j").write_bytes(data + data)
    with pytest.raises(BadInput, match=r"row 2.*does not fit batch 0"):
        Journal(tmp_path / "j", BATCHES)


def test_answers_of_another_batch_are_an_error(tmp_path: Path) -> None:
    entry = json.loads(write(tmp_path / "j", (0,)))
    (tmp_path / "j").write_bytes(json.dumps({**entry, "batch": 2}).encode() + b"\n")
    with pytest.raises(BadInput, match="does not fit batch 2"):
        Journal(tmp_path / "j", BATCHES)
