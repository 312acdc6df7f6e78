"""Corpora: where each comes from, under which licence, how it is loaded and how the paper asks about it.

A name that is not listed here is a user's own corpus in the plain format (``corpora/plain.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from tpbench_data.corpora import lme_ku, multiwoz, plain, risawoz, sgd
from tpbench_data.corpora.recognise import with_hint
from tpbench_data.corpora.source_files import SourceFiles
from tpbench_data.dialogue import Dialogue
from tpbench_data.errors import BadInput
from tpbench_data.names import INPUT_PROBES, PROBES, Probe

PoolKind = Literal["updates", "latest_update", "authored"]
"""What the update questions of a corpus are.

``updates``: every update of every dialogue, of which a seeded sample is drawn (SGD, MultiWOZ).
``latest_update``: the latest update of every eligible dialogue, all of them used (RiSAWOZ).
``authored``: the corpus's own questions, all of them used (LongMemEval).
"""

PAPER_SELECTOR_SEEDS = (42, 43, 44, 45, 46)
PAPER_TURN_CHARACTERS = 200


@dataclass(frozen=True)
class Corpus:
    """What TPBench knows of a source corpus.

    Attributes:
        name: The name used in every column and command.
        title: Full name.
        licence: SPDX identifier.
        homepage: Where the corpus is published.
        citation: What to cite, in one line.
        pattern: Regular expression of its file names; group 1 is the file number.
        preferred: Regular expression of the paths that are taken where some files match it.
        load: Turns the files into dialogues.
        probes: The probes the paper draws from it, which are built unless others are asked for.
        offers: All probes that can be built from it.
        pool: What its update questions are.
        selector_seeds: Seeds of random selection.
        turn_characters: Length to which protocol ``paper`` cuts every turn, ``None`` = never.
    """

    name: str
    title: str
    licence: str
    homepage: str
    citation: str
    pattern: str
    preferred: str | None
    load: Callable[[SourceFiles], Iterator[Dialogue]]
    probes: tuple[Probe, ...] = PROBES
    offers: tuple[Probe, ...] = INPUT_PROBES
    pool: PoolKind = "updates"
    selector_seeds: tuple[int, ...] = (42,)
    turn_characters: int | None = None

    def files(self, path: Path) -> SourceFiles:
        """The corpus files under ``path`` (a folder, an archive or one file)."""
        return SourceFiles(path, self.pattern, self.preferred)

    def dialogues(self, files: SourceFiles) -> Iterator[Dialogue]:
        """Loads the files; a failure says which corpus the path looks like, where that is another one.

        Raises:
            BadInput: See the loader.
        """
        try:
            yield from self.load(files)
        except BadInput as problem:
            raise with_hint(problem, files.path, self.name) from problem


SGD = Corpus(
    name="sgd",
    title="Schema-Guided Dialogue, train",
    licence="CC-BY-SA-4.0",
    homepage="https://github.com/google-research-datasets/dstc8-schema-guided-dialogue",
    citation=(
        "Rastogi et al., Towards Scalable Multi-Domain Conversational Agents: "
        "The Schema-Guided Dialogue Dataset, AAAI 2020"
    ),
    pattern=sgd.PATTERN,
    preferred=r"(^|/)train/",
    load=sgd.load,
)
MULTIWOZ = Corpus(
    name="multiwoz",
    title="MultiWOZ",
    licence="MIT",
    homepage="https://github.com/budzianowski/multiwoz",
    citation=(
        "Budzianowski et al., MultiWOZ - A Large-Scale Multi-Domain Wizard-of-Oz Dataset for Task-Oriented "
        "Dialogue Modelling, EMNLP 2018; and the paper of the version: Eric et al., LREC 2020 (2.1), "
        "Zang et al., NLP4ConvAI 2020 (2.2), Ye et al., SIGDIAL 2022 (2.4)"
    ),
    pattern=multiwoz.PATTERN,
    preferred=r"(^|/)train/",
    load=multiwoz.load,
)
RISAWOZ = Corpus(
    name="risawoz",
    title="RiSAWOZ",
    licence="CC-BY-NC-4.0",
    homepage="https://github.com/terryqj0107/RiSAWOZ",
    citation=(
        "Quan et al., RiSAWOZ: A Large-Scale Multi-Domain Wizard-of-Oz Dataset with Rich Semantic Annotations "
        "for Task-Oriented Dialogue Modeling, EMNLP 2020"
    ),
    pattern=risawoz.PATTERN,
    preferred=r"(^|/)all_test600_new\.json$",
    load=risawoz.load,
    probes=("current_value",),
    offers=("current_value",),
    pool="latest_update",
    selector_seeds=PAPER_SELECTOR_SEEDS,
    turn_characters=PAPER_TURN_CHARACTERS,
)
LME_KU = Corpus(
    name="lme_ku",
    title="LongMemEval, knowledge-update questions",
    licence="MIT",
    homepage="https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned",
    citation="Wu et al., LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory, ICLR 2025",
    pattern=lme_ku.PATTERN,
    preferred=r"(^|/)longmemeval_s_cleaned\.json$",
    load=lme_ku.load,
    probes=("current_value",),
    offers=("current_value",),
    pool="authored",
    selector_seeds=PAPER_SELECTOR_SEEDS,
    turn_characters=PAPER_TURN_CHARACTERS,
)

CORPORA: dict[str, Corpus] = {corpus.name: corpus for corpus in (SGD, MULTIWOZ, RISAWOZ, LME_KU)}

_OWN_LICENCES = {"tpbench_en": "CC-BY-4.0", "tpbench_zh": "CC-BY-4.0"}


def corpus_named(name: str) -> Corpus:
    """The corpus of that name; an unlisted name is a corpus in the plain format."""
    if name in CORPORA:
        return CORPORA[name]
    return Corpus(
        name=name,
        title=name,
        licence=_OWN_LICENCES.get(name, "LicenseRef-unknown"),
        homepage="",
        citation="",
        pattern=plain.PATTERN,
        preferred=None,
        load=partial(plain.load, corpus=name),
        probes=INPUT_PROBES,
    )
