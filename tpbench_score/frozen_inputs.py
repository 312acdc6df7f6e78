"""The inputs of a release as the scorer sees them: one table over all scored probes, found by input id."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tpbench_data.canonical import prompt_hash
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import CONFIGS, PROBE
from tpbench_score.method_settings import shown_methods
from tpbench_score.records import Reference

Positions = npt.NDArray[np.int64]
"""Row numbers of `FrozenInputs.table`."""

Texts = npt.NDArray[np.object_]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Questions:
    """What is asked of a reader.

    Attributes:
        codes: The number of each row's question.
        texts: By number: probe, corpus, reference goal, reference value, old value, listed alternatives (empty where
            they were not asked for).
    """

    codes: Positions
    texts: tuple[tuple[Any, ...], ...]


ContextTest = Callable[[str, str, Reference], bool]
"""Whether a context states the reference value, given (probe, context, reference)."""

_QUESTION = ["probe", "corpus", "reference_goal", "reference_value", "old_value"]

_SLICE = 4_096
"""Rows whose contexts or prompts are held as Python objects at a time."""


SCORED_CONFIGS = tuple(name for name, schema in CONFIGS.items() if "prompt" in schema.names)
"""The configs whose rows are inputs for a reader; each is the probe of that name."""


class FrozenInputs:
    """Every probe row of a release.

    Attributes:
        release: Where they come from.
        table: The probe rows in release order, with the columns ``probe`` and ``shown_method`` (see `shown_methods`).
    """

    def __init__(self, release: Release) -> None:
        self.release = release
        rows = pa.concat_tables([_probe_rows(release, probe) for probe in SCORED_CONFIGS])
        self.table: pa.Table = rows.append_column("shown_method", shown_methods(rows))
        self._ids = self.table["input_id"].combine_chunks()
        self._hashes: Texts = np.empty(self.table.num_rows, dtype=object)
        self._hashed: Mask = np.zeros(self.table.num_rows, np.bool_)
        self._last: tuple[tuple[str, ...], Positions, pa.Table] | None = None
        self._questions: dict[bool, Questions] = {}
        self._retained: dict[str, tuple[Texts, Mask]] = {}
        self._contexts: dict[bytes | None, int] = {}

    def positions(self, input_ids: pa.ChunkedArray) -> Positions:
        """The row of each id, -1 where the release has no such input."""
        return index_in(input_ids, self._ids)

    def texts(self, column: str, positions: Positions) -> list[str | None]:
        """A text column at some rows."""
        return list(self.table[column].take(pa.array(positions)).to_pylist())

    def rows(self, names: tuple[str, ...], positions: Positions) -> pa.Table:
        """Some columns at some rows; the last ones are remembered, since most runs answer the same inputs."""
        if self._last is None or self._last[0] != names or not np.array_equal(self._last[1], positions):
            self._last = (names, positions, self.table.select(names).take(pa.array(positions)))
        return self._last[2]

    def prompt_hashes(self, positions: Positions) -> Texts:
        """The hash of the prompt at some rows; ``None`` where an import has no prompt."""
        for rows in _slices(positions, self._hashed):
            prompts = self.table["prompt"].take(pa.array(rows)).to_pylist()
            self._hashes[rows] = [None if prompt is None else prompt_hash(prompt) for prompt in prompts]
            self._hashed[rows] = True
        return self._hashes[positions]

    def questions(self, *, with_alternatives: bool) -> Questions:
        """Every row's question, each distinct one once: methods and ratios ask the same ones."""
        known = self._questions.get(with_alternatives)
        if known is None:
            names = [*_QUESTION, *(["value_alternatives"] if with_alternatives else [])]
            known = self._questions[with_alternatives] = _distinct(self.table.select(names))
        return known

    def retained(
        self, positions: Positions, rule: str, states: ContextTest, *, with_alternatives: bool = False
    ) -> pa.Array:
        """Whether the reference value occurs in the context at some rows (scoring spec 4.2).

        The context is taken as one piece, so a value may span two turns of a context without markers. ``None``
        where there is no reference value or an import has no context.

        Args:
            positions: The rows.
            rule: The scorer whose test it is.
            states: The test, given (probe, context, reference).
            with_alternatives: Whether the test reads the listed alternatives of a value.
        """
        size = self.table.num_rows
        known, asked = self._retained.setdefault(rule, (np.empty(size, dtype=object), np.zeros(size, np.bool_)))
        wanted = np.unique(positions[~asked[positions]])
        if len(wanted):
            known[wanted] = self._stated(wanted, states, self.questions(with_alternatives=with_alternatives))
            asked[wanted] = True
        return pa.array(known[positions], pa.bool_())

    def _stated(self, rows: Positions, states: ContextTest, questions: Questions) -> Texts:
        """The answers of a test; each distinct pair of context and question is asked once, contexts one by one."""
        pairs = self._context_codes(rows) * len(questions.texts) + questions.codes[rows]
        _, first, places = np.unique(pairs, return_index=True, return_inverse=True)
        answers = np.empty(len(first), dtype=object)
        for start in range(0, len(first), _SLICE):
            part = rows[first[start : start + _SLICE]]
            asked = (questions.texts[code] for code in questions.codes[part].tolist())
            texts = self.texts("context", part)
            answers[start : start + len(part)] = [_answer(*pair, states) for pair in zip(texts, asked, strict=True)]
        return answers[places]

    def _context_codes(self, rows: Positions) -> Positions:
        """Equal numbers for equal contexts, by their hash: the texts are too large to be held once more."""
        codes = np.empty(len(rows), np.int64)
        for start in range(0, len(rows), _SLICE):
            texts = self.texts("context", rows[start : start + _SLICE])
            digests = (None if text is None else sha256(text.encode()).digest() for text in texts)
            codes[start : start + len(texts)] = [self._contexts.setdefault(d, len(self._contexts)) for d in digests]
        return codes


def _slices(positions: Positions, known: Mask) -> Iterator[Positions]:
    """The rows that are not known yet, a few at a time."""
    wanted = positions[~known[positions]]
    wanted = np.unique(wanted) if len(wanted) else wanted
    for start in range(0, len(wanted), _SLICE):
        yield wanted[start : start + _SLICE]


def _probe_rows(release: Release, probe: str) -> pa.Table:
    """The rows of one config under the columns of a probe: a free-form answer is its reference value."""
    rows = release.table(probe)
    for column, stands_for in (("reference_answer", "reference_value"), ("old_answer", "old_value")):
        if column in rows.column_names:
            rows = rows.set_column(rows.schema.get_field_index(stands_for), stands_for, rows[column])
    rows = rows.select(PROBE.names)
    return rows.append_column("probe", pa.array([probe] * rows.num_rows, pa.string()))


def codes_of(column: pa.ChunkedArray) -> Positions:
    """Equal numbers for equal texts, 0 for null."""
    encoded = column.combine_chunks().dictionary_encode()
    arrays = encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
    numbers = [np.asarray(pc.fill_null(array.indices, -1)).astype(np.int64) for array in arrays]
    return (np.concatenate(numbers) if numbers else np.empty(0, np.int64)) + 1


def _codes_of_lists(column: pa.ChunkedArray) -> Positions:
    numbers: dict[tuple[str, ...], int] = {}
    lists = (tuple(values or ()) for values in column.to_pylist())
    return np.fromiter((numbers.setdefault(values, len(numbers)) for values in lists), np.int64, len(column))


def _distinct(rows: pa.Table) -> Questions:
    codes = np.zeros(rows.num_rows, np.int64)
    for name in rows.column_names:
        mine = _codes_of_lists(rows[name]) if pa.types.is_list(rows.schema.field(name).type) else codes_of(rows[name])
        # Made dense after each column, so that the product cannot overflow.
        _, codes = np.unique(codes * (mine.max(initial=0) + 1) + mine, return_inverse=True)
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    found = rows.take(pa.array(first))
    columns = [found[name].to_pylist() for name in _QUESTION]
    listed = (
        found["value_alternatives"].to_pylist() if "value_alternatives" in rows.column_names else [None] * len(first)
    )
    columns.append([tuple(values or ()) for values in listed])
    return Questions(codes, tuple(zip(*columns, strict=True)))


def _answer(context: str | None, question: tuple[Any, ...], states: ContextTest) -> bool | None:
    probe, corpus, _, value, _, alternatives = question
    if context is None or value is None:
        return None
    return states(probe, context, Reference(corpus, value=value, alternatives=alternatives))


def index_in(values: pa.ChunkedArray, known: pa.ChunkedArray | pa.Array) -> Positions:
    """The place of each value in ``known`` (the first one), -1 where it is not there."""
    found = pc.fill_null(pc.index_in(values, value_set=known), -1)
    return np.asarray(found).astype(np.int64)
