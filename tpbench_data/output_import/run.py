"""From saved answers to a run folder that the scorer takes like any other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from tpbench_data.canonical import canonical_json, prompt_hash, sha256_hex
from tpbench_data.errors import BadInput
from tpbench_data.files import new_folder
from tpbench_data.names import ROLES
from tpbench_data.output_import import inspect_log, lm_eval, plain
from tpbench_data.output_import.answers import Answer
from tpbench_data.release.reader import Release
from tpbench_data.release.schema import INPUT_CONFIGS, OUTPUTS, PLAN, RUNS
from tpbench_data.run_folder import write_outputs, write_plan, write_run_row

FORMATS: dict[str, Callable[[Path], Iterator[Answer]]] = {
    "jsonl": plain.read,
    "inspect": inspect_log.read,
    "lm-eval": lm_eval.read,
}
"""Format name -> reader of its files."""

BACKEND = "import"

_SLUG = re.compile(r"[^a-z0-9.]+")
_COLUMNS = ("input_id", "corpus", "method_config", "method", "ratio", "selector_seed", "protocol", "prompt")
_CELL = ("corpus", "method_config", "ratio", "selector_seed", "protocol")
_LISTED = 5


@dataclass(frozen=True)
class About:
    """What is known of the reader whose answers are imported.

    Attributes:
        reader: Its name, as tables show it.
        role: Role of the run.
        model_id: Model, ``None`` where unknown.
        model_revision: Revision of the model, ``None`` where unknown.
    """

    reader: str
    role: str = "main"
    model_id: str | None = None
    model_revision: str | None = None

    @property
    def run_id(self) -> str:
        """Slug of the reader and a hash of everything known about it."""
        slug = _SLUG.sub("-", self.reader.lower()).strip("-.")[:60] or "reader"
        known = [BACKEND, self.reader, self.role, self.model_id, self.model_revision]
        return f"{slug}-{sha256_hex(canonical_json(known))[:8]}"


def format_of(file: Path) -> str:
    """The format that a file name suggests."""
    if file.suffix in (".eval", ".json"):
        return "inspect"
    return "lm-eval" if file.name.startswith("samples_") else "jsonl"


def import_outputs(
    release: Release, files: Iterable[Path], about: About, out: Path, *, form: str | None = None, partial: bool = False
) -> dict[str, Any]:
    """Writes a run folder from files of saved answers.

    The run plans every input of each cell (probe, corpus, method, ratio, selector seed, protocol) that the files
    answer, so that an answer which is absent is missed and not overlooked.

    Args:
        release: The release whose inputs were answered.
        files: Files of answers.
        about: The reader.
        out: Folder to make.
        form: A key of `FORMATS`; ``None`` = by file name.
        partial: Plan only what the files answer: the cells then show n of N.

    Returns:
        The `runs` row that was written.

    Raises:
        BadInput: A file that cannot be read, an unknown or duplicate id, or (unless ``partial``) a cell with
            answers missing.
    """
    if about.role not in ROLES or about.role == "judge":
        roles = ", ".join(role for role in ROLES if role != "judge")
        raise BadInput(f"unknown role {about.role!r}", field="role", remedy=f"Use one of: {roles}")
    inputs = _inputs(release)
    answers = _collect(files, inputs, form)
    if not answers:
        raise BadInput("no answers in these files", remedy="Give a file with one answer a line")
    cells = {_cell(inputs[input_id]) for input_id in answers}
    planned = [row for row in inputs.values() if row["input_id"] in answers or (not partial and _cell(row) in cells)]
    _check_complete(planned, answers)
    run = dict.fromkeys(RUNS.names) | {
        "run_id": about.run_id,
        "role": about.role,
        "reader": about.reader,
        "model_id": about.model_id,
        "model_revision": about.model_revision,
        "backend": BACKEND,
        "release_digest": release.digest,
        "n_planned": len(planned),
    }
    with new_folder(out) as folder:
        write_plan(folder, pa.Table.from_pylist([_plan_row(row) for row in planned], schema=PLAN))
        write_run_row(folder, run)
        outputs = [_output_row(about.run_id, row, answers[row["input_id"]]) for row in planned]
        write_outputs(folder, pa.Table.from_pylist(outputs, schema=OUTPUTS))
    return run


def _inputs(release: Release) -> dict[str, dict[str, Any]]:
    """Input id -> the row with its probe, in release order."""
    found: dict[str, dict[str, Any]] = {}
    for probe in INPUT_CONFIGS:
        for row in release.table(probe).select(_COLUMNS).to_pylist():
            found[row["input_id"]] = row | {"probe": probe}
    return found


def _collect(files: Iterable[Path], inputs: Mapping[str, Any], form: str | None) -> dict[str, Answer]:
    answers: dict[str, Answer] = {}
    origin: dict[str, Path] = {}
    for file in files:
        for answer in FORMATS[form or format_of(file)](file):
            problem = None
            if answer.input_id not in inputs:
                problem, remedy = "is not an input of this release", "Give the release that was answered"
            elif answer.input_id in answers:
                before = f"{origin[answer.input_id]}, {answers[answer.input_id].place}"
                problem, remedy = f"is answered in {before} as well", "Keep one answer per input"
            if problem is not None:
                row = answer.place if isinstance(answer.place, int) else None
                raise BadInput(f"{answer.input_id!r} {problem}", file=file, row=row, field="input_id", remedy=remedy)
            answers[answer.input_id], origin[answer.input_id] = answer, file
    return answers


def _cell(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (row["probe"], *(row[name] for name in _CELL))


def _check_complete(planned: list[dict[str, Any]], answers: Mapping[str, Answer]) -> None:
    missing = [row["input_id"] for row in planned if row["input_id"] not in answers]
    if missing:
        more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
        raise BadInput(
            f"{len(missing)} of {len(planned)} inputs of the answered cells have no answer: "
            f"{', '.join(missing[:_LISTED])}{more}",
            remedy="Add them, with an error where the reader failed, or pass --partial to show n of N",
        )


def _plan_row(row: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: row[name] for name in ("input_id", "probe", "method", "ratio")}
    hashed = None if row["prompt"] is None else prompt_hash(row["prompt"])
    return dict.fromkeys(PLAN.names) | known | {"prompt_hash": hashed}


def _output_row(run_id: str, row: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    return dict.fromkeys(OUTPUTS.names) | {
        "run_id": run_id,
        "input_id": row["input_id"],
        "method": row["method"],
        "ratio": row["ratio"],
        "text": answer.text,
        "text_source": "raw",
        "error": answer.error,
        "finish_reason": None if answer.error is None else "error",
    }
