"""What to build: everything that decides the bytes of a release."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tpbench_data.errors import BadInput
from tpbench_data.names import Probe, ProtocolName, ValueRuleName
from tpbench_data.selectors import SELECTORS, Selector


@dataclass(frozen=True)
class BuildPlan:
    """Everything that decides the bytes of a release.

    Attributes:
        corpora: Corpus name -> folder, archive or file.
        candidates: Corpus name -> file with a given ordered pool, where one is used.
        p3_pools: Corpus name -> file with the ids of a given P3 pool.
        value_rule: ``first`` (published) or ``disjoint`` (sound).
        seeds: Sample seeds.
        n: Questions drawn per seed and probe, and derived free-form questions per corpus.
        ratios: Nominal retained fractions.
        selectors: The methods.
        deletions: The deletion conditions, for P2 and free-form questions.
        probes: The probes; ``None`` = those that the paper asks of each corpus.
        protocols: ``paper``, ``matched`` or both.
        turn_characters: Corpus name -> length to which protocol ``paper`` cuts turns (``None`` = not), where it
            differs from the published one.
        release: Version of the release.
    """

    corpora: dict[str, Path]
    candidates: dict[str, Path] = field(default_factory=dict)
    p3_pools: dict[str, Path] = field(default_factory=dict)
    value_rule: ValueRuleName = "first"
    seeds: tuple[int, ...] = (42, 43, 44)
    n: int = 200
    ratios: tuple[float, ...] = (0.3,)
    selectors: tuple[Selector, ...] = field(default_factory=lambda: tuple(kind() for kind in SELECTORS.values()))
    deletions: tuple[str, ...] = ()
    probes: tuple[Probe, ...] | None = None
    protocols: tuple[ProtocolName, ...] = ("paper",)
    turn_characters: dict[str, int | None] = field(default_factory=dict)
    release: str = "0.1.0"

    def check(self) -> None:
        """Raises BadInput for an option that names a corpus that is not built, or a P3 pool without candidates."""
        for option, given, needed, known in (
            ("--candidates", self.candidates, "--corpus", self.corpora),
            ("--p3-pool", self.p3_pools, "--candidates", self.candidates),
            ("--turn-cap", self.turn_characters, "--corpus", self.corpora),
        ):
            stray = sorted(set(given) - set(known))
            if stray:
                raise BadInput(
                    f"{option} names {stray[0]!r}, but {needed} does not", remedy=f"Add {needed} {stray[0]}=PATH"
                )
