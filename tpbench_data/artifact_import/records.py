"""What is read from the artifact, before it becomes rows of a release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tpbench_data.names import Probe, Role

Place = tuple[str, int]
"""File and row."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question in one sample.

    Attributes:
        corpus: The corpus.
        probe: The probe.
        example_id: The published id.
        seed: Sample seed.
        ratio: Nominal ratio.
    """

    corpus: str
    probe: Probe
    example_id: str
    seed: int
    ratio: float


@dataclass(frozen=True)
class SourceInput:
    """One reader input of the artifact.

    Attributes:
        asked: The question.
        method: Our name of the method.
        method_config: Its settings as we print them.
        selector_seed: ``None`` unless random.
        facts: Columns of the release row that come straight from the artifact.
        context: ``None`` where it is not published.
        prompt: (system, user), ``None`` where it is not published.
        place: Where it was read.
    """

    asked: Asked
    method: str
    method_config: str
    selector_seed: int | None
    facts: Mapping[str, Any]
    context: str | None
    prompt: tuple[str, str] | None
    place: Place

    @property
    def content(self) -> tuple[Any, ...]:
        """What makes it the same input as that of another sample."""
        labels = tuple(sorted((name, repr(value)) for name, value in self.facts.items()))
        return self.prompt, self.context, labels


@dataclass(frozen=True, slots=True)
class RunKey:
    """What tells runs apart: reader, role, and the cache method with its chunk length."""

    reader: str
    role: Role
    kv_method: str | None = None
    chunk_length: int | None = None


@dataclass(frozen=True)
class SourceAnswer:
    """One saved answer of the artifact.

    Attributes:
        asked: The question.
        run: The run.
        method_config: Settings of the method whose context was read.
        text: The answer as stored, or rebuilt from the stored value and flag.
        text_source: ``json_span`` (the reader kept the last flat object only), ``raw`` or ``rebuilt``.
        error: What the artifact says went wrong.
        provenance: Columns of the `runs` row that this answer states.
        tokens: Prompt tokens, where stored.
        place: Where it was read.
    """

    asked: Asked
    run: RunKey
    method_config: str
    text: str
    text_source: str
    error: str | None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    tokens: int | None = None
    place: Place = ("", 0)
