"""From what a user asks for to what is carried out: the inputs, the reader, the plan, and the row of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from tpbench_data.errors import BadInput
from tpbench_data.names import INPUT_PROBES, PROBES
from tpbench_generate.answering import encoder_of
from tpbench_generate.demonstrations import DEMONSTRATIONS
from tpbench_generate.engine import run_row
from tpbench_generate.plan import Batching, Plan, Selection, make_plan, select_inputs
from tpbench_generate.readers import find_reader, open_reader
from tpbench_generate.readers.base import Reader

Number = TypeVar("Number", int, float)
Say = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """The options of `tpbench-generate run`; empty or None = not given.

    Attributes:
        release: Release folder, None = the one that ships with the package.
        reader: The reader's name.
        options: Fields of `ReaderOptions`.
        probes, methods, ratios, seeds, corpora, protocols: Filters.
        limit: At most this many inputs.
        kv: Cache method.
        batch_size: Most prompts of a batch.
        batch_tokens: Most padded tokens of a batch.
        share_beginnings: Batch prompts that begin alike together and read their beginning once.
        demonstration: Name of a worked example.
        role: What the run is for.
    """

    release: Path | None
    reader: str
    options: Mapping[str, Any] = field(default_factory=dict)
    probes: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    ratios: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    corpora: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    limit: int | None = None
    kv: str | None = None
    batch_size: int | None = None
    batch_tokens: int | None = None
    share_beginnings: bool = False
    demonstration: str | None = None
    role: str | None = None


@dataclass(frozen=True)
class Prepared:
    """What a request comes to: the release, the opened reader, the plan, and the `runs` row."""

    release: Path
    reader: Reader
    plan: Plan
    row: dict[str, Any]


def prepare(request: Request, say: Say = lambda text: None) -> Prepared:
    """Selects inputs, opens the reader (not its weights) and makes the plan.

    Args:
        request: What the user asked for.
        say: Is told what takes its time.

    Raises:
        BadInput: Something that was asked for is not there or does not go together.
        MissingExtra: A package of the extra `generate` is not installed.
    """
    from tpbench_data.embedded import embedded_release
    from tpbench_data.release.reader import Release
    from tpbench_generate.kv.inputs import as_answers_of, full_contexts, read_compression

    if unknown := [name for name in request.probes if name not in INPUT_PROBES]:
        known = ", ".join(INPUT_PROBES)
        raise BadInput(f"there is no probe '{unknown[0]}'", field="--probe", remedy=f"Probes: {known}")
    opened = Release.open(request.release or embedded_release())
    present = [probe for probe in INPUT_PROBES if probe in opened.configs]
    ratios = tuple(_number(text, float, "--ratio") for text in request.ratios)
    compression = None if request.kv is None else read_compression(request.kv, request.methods, ratios)
    selection = Selection(
        probes=request.probes or tuple(probe for probe in PROBES if probe in present),
        methods=() if compression else request.methods,
        ratios=() if compression else ratios,
        seeds=tuple(_number(text, int, "--seed") for text in request.seeds),
        corpora=request.corpora,
        protocols=request.protocols,
        limit=request.limit,
    )
    tables: dict[str, Any] = {probe: opened.table(probe) for probe in present}
    if compression is not None:
        tables = full_contexts(tables, compression[1], release=str(opened.path))
    inputs = select_inputs(tables, selection, release=str(opened.path))
    spec = find_reader(request.reader)
    batching = Batching(request.batch_size or spec.batch_size, request.batch_tokens or spec.batch_tokens)
    share = request.share_beginnings
    if share and (compression is not None or not spec.model):
        raise BadInput(
            "needs an uncompressed model on this machine",
            field="--share-beginnings",
            remedy="Leave it out; servers share beginnings themselves",
        )
    batching = replace(batching, share=share)
    if compression is not None:
        inputs = as_answers_of(inputs, compression[0].name, compression[1])
        batching = Batching(1)  # each context is compressed on its own
    reader = open_reader(
        spec, say=say, kv=compression, **request.options, **({"share_beginnings": True} if share else {})
    )
    say(f"counting the tokens of {len(inputs)} inputs")
    plan = make_plan(inputs, encoder_of(reader), batching, DEMONSTRATIONS.get(request.demonstration or ""))
    row = run_row(
        plan,
        reader,
        role=request.role or ("main" if compression is None else "kv"),
        demonstration=request.demonstration,
        batch_plan=str(batching),
        release_digest=opened.digest,
    )
    return Prepared(opened.path, reader, plan, row)


def _number(text: str, kind: type[Number], option: str) -> Number:
    try:
        return kind(text)
    except ValueError:
        raise BadInput(f"'{text}' is not a number", field=option) from None
