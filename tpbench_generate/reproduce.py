"""Answering a sample of saved outputs again, with the settings that their run recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tpbench_data.errors import BadInput
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import INPUT_CONFIGS
from tpbench_data.run_folder import RunFolder
from tpbench_generate.answering import answer_batch, encoder_of
from tpbench_generate.comparison import parting
from tpbench_generate.demonstrations import DEMONSTRATIONS
from tpbench_generate.identity import differences, settings_columns
from tpbench_generate.plan import Batching, Plan, PlannedInput, make_plan
from tpbench_generate.readers import find_reader, open_reader
from tpbench_generate.readers.base import Encoded, Reader
from tpbench_generate.readers.transformers_reader import TransformersReader

_OPTIONS = ("max_new_tokens", "max_input_tokens", "truncation_side", "dtype", "attention")

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Saved:
    """An output to be answered again: its run, its input, and the text that was saved."""

    run: Mapping[str, Any]
    planned: PlannedInput
    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """An output that came out differently.

    Attributes:
        run_id: Its run.
        input_id: Its input.
        before: The saved text.
        now: The new text.
        token: Place of the first token that differs, from 0.
        gap: Logit of the new token there minus that of the saved one; None for readers that show no logits.
    """

    run_id: str
    input_id: str
    before: str
    now: str
    token: int | None
    gap: float | None


def draw(release: Release, runs: Sequence[RunFolder], n: int, seed: int) -> list[Saved]:
    """``n`` saved answers of uncompressed runs, drawn by hash: the same seed draws the same ones on every machine.

    Raises:
        BadInput: The runs hold no answer that can be given again.
    """
    prompts = {
        row["input_id"]: (config, row)
        for config in INPUT_CONFIGS
        for row in release.table(config).select(["input_id", "method", "ratio", "prompt", "template"]).to_pylist()
    }
    found: list[tuple[str, Saved]] = []
    for folder in runs:
        if folder.run["kv_settings"] is not None:
            continue
        for output in folder.outputs.to_pylist():
            probe, row = prompts.get(output["input_id"], ("", None))
            if output["error"] is not None or row is None or row["prompt"] is None:
                continue
            planned = PlannedInput.from_row(probe, row)
            key = sha256(f"{seed}|{folder.run['run_id']}|{row['input_id']}".encode()).hexdigest()
            found.append((key, Saved(folder.run, planned, output["text"])))
    if not found:
        raise BadInput(
            "no saved answer of an uncompressed run", file=release.path, remedy="Choose a release or run that has some"
        )
    return [saved for _, saved in sorted(found, key=lambda pair: pair[0])[:n]]


def reproduce(
    saved: Sequence[Saved], reader_name: str | None, device: str, say: Say = lambda text: None
) -> list[Changed]:
    """Answers again and lists what differs, run by run.

    Args:
        saved: From `draw`.
        reader_name: How to open the reader; None = by the name that each run states.
        device: Where models run.
        say: Is told what is being done.

    Raises:
        BadInput: The reader opens with settings that are not those of the run.
    """
    runs: dict[str, list[Saved]] = {}
    for one in saved:
        runs.setdefault(one.run["run_id"], []).append(one)
    return [
        changed
        for run_id, group in sorted(runs.items())
        for changed in _answered_again(run_id, group, reader_name, device, say)
    ]


def _answered_again(
    run_id: str, group: Sequence[Saved], reader_name: str | None, device: str, say: Say
) -> list[Changed]:
    run = group[0].run
    batching = Batching.from_text(str(run["batch_plan"]))
    shown = f"+{run['demonstration']}" if run["demonstration"] else ""
    name = reader_name or run["reader"].removesuffix(shown)
    options = {key: run[key] for key in _OPTIONS if run[key] is not None}
    sharing: dict[str, Any] = {"share_beginnings": True} if batching.share else {}
    reader = open_reader(find_reader(name), say=say, device=device, **options, **sharing)
    now = settings_columns(reader.settings, run["role"], run["demonstration"])
    if now["run_id"] != run_id:
        apart = "; ".join(differences(run, {**run, **now})) or f"this reader gives {now['run_id']}"
        raise BadInput(
            f"run {run_id} was made with other settings: {apart}",
            field="--reader",
            remedy="Name the reader of the run",
        )
    demonstration = DEMONSTRATIONS.get(run["demonstration"] or "")
    plan = make_plan([one.planned for one in group], encoder_of(reader), batching, demonstration)
    say(f"{run_id}: {len(plan.prompts)} prompts")
    answers: dict[str, str] = {}
    for batch in plan.batches:
        found = answer_batch(reader, [plan.prompts[key] for key in batch])
        answers |= {key: one.text for key, one in zip(batch, found, strict=True)}
    hashes = plan.table["prompt_hash"].to_pylist()
    return [
        _changed(reader, plan, key, one, answers[key])
        for key, one in zip(hashes, group, strict=True)
        if answers[key] != one.text
    ]


def _changed(reader: Reader, plan: Plan, key: str, saved: Saved, now: str) -> Changed:
    token = gap = None
    prompt = reader.encode(plan.prompts[key])
    if isinstance(reader, TransformersReader) and isinstance(prompt, Encoded):
        token, gap = parting(reader, prompt.ids, reader.answer_tokens(now), reader.answer_tokens(saved.text))
    return Changed(saved.run["run_id"], saved.planned.input_id, saved.text, now, token, gap)
