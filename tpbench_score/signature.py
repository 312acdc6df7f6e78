"""The signature of a number: what it was made with, short enough to stand below a table.

It is built from a score table that exists, never from options, so it cannot claim what was not done:
``scorer:paper-1|release:1a2b3c4d|runs:smollm2-135m-0f3a9c21|missing:0|tpbench:0.1.0``. Whoever computes a statistic
adds its settings with `Signature.extended`.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from tpbench_data import __version__
from tpbench_score.scoring import RELEASE_KEY

_KEY = re.compile(r"[a-z][a-z0-9_]*")
_VALUE = re.compile(r"[^|:\s\x00-\x1f\x7f]+")
_SPELLED_RUNS = 3
"""Runs that are listed by id; more are given as their number and a hash of their ids."""
_DIGEST_DIGITS = 8


@dataclass(frozen=True)
class Signature:
    """Ordered ``key:value`` pairs joined by ``|``; the version of TPBench comes last.

    Raises:
        ValueError: A key or value holds a character that would make the text ambiguous, or a key occurs twice.
    """

    parts: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        for key, value in self.parts:
            if not _KEY.fullmatch(key) or not _VALUE.fullmatch(value):
                raise ValueError(f"cannot stand in a signature: {key!r}, {value!r}")
        if len({key for key, _ in self.parts}) != len(self.parts):
            raise ValueError(f"a key occurs twice in the signature: {self.parts}")

    def __str__(self) -> str:
        return "|".join(f"{key}:{value}" for key, value in self.parts)

    def extended(self, **settings: str | int | float) -> Signature:
        """The signature with further settings, placed before the version."""
        added = tuple((key, str(value)) for key, value in settings.items())
        return Signature((*self.parts[:-1], *added, self.parts[-1]))

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Reads the text of a signature back; raises ``ValueError`` where it is none."""
        pairs = [part.split(":") for part in text.split("|")]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"not a signature: {text!r}")
        return cls(tuple((key, value) for key, value in pairs))


def signature_of(scores: pa.Table) -> Signature:
    """The signature of a score table, or of the rows of one that a table shows.

    Raises:
        ValueError: The table was not made by `tpbench_score.score`, so its release is unknown.
    """
    digest = (scores.schema.metadata or {}).get(RELEASE_KEY)
    if digest is None:
        raise ValueError("a score table without the digest of its release")
    scorers = sorted(scores["scorer"].unique().to_pylist())
    runs = sorted(scores["run_id"].unique().to_pylist())
    return Signature(
        (
            ("scorer", "+".join(scorers) or "none"),
            ("release", digest.decode()[:_DIGEST_DIGITS]),
            ("runs", _runs(runs)),
            ("missing", str(pc.sum(pc.equal(scores["status"], "missing")).as_py() or 0)),
            ("tpbench", __version__),
        )
    )


def _runs(run_ids: list[str]) -> str:
    if not run_ids:
        return "none"
    if len(run_ids) <= _SPELLED_RUNS:
        return "+".join(run_ids)
    return f"{len(run_ids)}-{hashlib.sha256(' '.join(run_ids).encode()).hexdigest()[:_DIGEST_DIGITS]}"
