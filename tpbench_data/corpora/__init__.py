"""Corpora: where each comes from, under which licence, and the function that loads it.

A name that is not listed here is a user's own corpus in the plain format (``corpora/plain.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tpbench_data.corpora import plain, sgd
from tpbench_data.corpora.source_files import SourceFiles
from tpbench_data.dialogue import Dialogue


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
        subfolder: Folder taken where several hold such files.
        load: Turns the files into dialogues.
    """

    name: str
    title: str
    licence: str
    homepage: str
    citation: str
    pattern: str
    subfolder: str | None
    load: Callable[[SourceFiles], Iterator[Dialogue]]

    def files(self, path: Path) -> SourceFiles:
        """The corpus files under ``path`` (a folder, an archive or, in the plain format, one file)."""
        return SourceFiles(path, self.pattern, self.subfolder)


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
    subfolder="train",
    load=sgd.load,
)

CORPORA: dict[str, Corpus] = {corpus.name: corpus for corpus in (SGD,)}

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
        subfolder=None,
        load=partial(plain.load, corpus=name),
    )
