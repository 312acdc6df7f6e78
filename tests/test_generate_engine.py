"""The engine with a scripted reader: retries, errors, resumption and refusals, without a model."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tpbench_data.errors import BadInput, TPBenchError
from tpbench_data.run_folder import read_run
from tpbench_generate.answering import encoder_of
from tpbench_generate.batch_loop import Progress
from tpbench_generate.engine import run_plan, run_row
from tpbench_generate.identity import environment_columns, joined_environment, settings_columns
from tpbench_generate.locks import exclusive
from tpbench_generate.plan import Plan, PlannedInput, make_plan
from tpbench_generate.readers.base import Answer, Encoded, Environment, Messages, Reader, ReaderSettings
from tpbench_generate.run_summary import RunSummary

SETTINGS = ReaderSettings(
    reader="upper",
    slug="upper",
    model_id="upper",
    model_revision="1",
    backend="python",
    dtype=None,
    attention=None,
    max_input_tokens=100,
    max_new_tokens=5,
    truncation_side="left",
    system_role="native",
    decoding="greedy",
    stop_token_ids=(2, 3),
    pad_token_id=0,
    template_hash="ab",
)


class UpperReader(Reader):
    """Answers with the prompt in capitals and the size of the batch, which a resume must not change.

    A text with "unencodable" cannot be encoded; "poison" fails whatever it is batched with, "crowd" only in company.
    """

    def __init__(
        self, settings: ReaderSettings = SETTINGS, device: str = "here", kill_after: int | None = None
    ) -> None:
        self.settings = settings
        self.environment = Environment(device=device, library_versions={"python": "3"})
        self.calls: list[int] = []
        self.loads = 0
        self._kill_after = kill_after

    def encode(self, messages: Messages) -> Encoded:
        text = messages[-1]["content"]
        if "unencodable" in text:
            raise ValueError("no such\ncharacter")
        return Encoded(tuple(map(ord, text)), truncated="long" in text)

    def load(self) -> None:
        self.loads += 1

    def generate(self, batch: Sequence[Encoded]) -> list[Answer]:
        if len(self.calls) == self._kill_after:
            os.kill(os.getpid(), signal.SIGKILL)
        self.calls.append(len(batch))
        texts = ["".join(map(chr, prompt.ids)) for prompt in batch]
        if any("poison" in text for text in texts):
            raise RuntimeError("bad prompt \udcff\nsecond line")
        if len(batch) > 1 and any("crowd" in text for text in texts):
            raise MemoryError("too many")
        if any("interrupt" in text for text in texts):
            raise KeyboardInterrupt
        return [Answer(f"{text.upper()} of {len(batch)}", "stop", 4) for text in texts]


def plan_of(texts: Sequence[str], reader: Reader, batch_size: int = 2) -> Plan:
    inputs = [
        PlannedInput(f"i{k}", "current_value", "recency", 0.3, ({"role": "user", "content": text},))
        for k, text in enumerate(texts)
    ]
    return make_plan(inputs, encoder_of(reader), batch_size)


def go(out: Path, texts: Sequence[str], reader: Reader | None = None, **options: Any) -> RunSummary:
    reader = reader or UpperReader()
    batch_size = options.pop("batch_size", 2)
    digest = options.pop("digest", "d")
    plan = plan_of(texts, reader, batch_size)
    row = run_row(plan, reader, role="main", batch_plan=f"batch_size={batch_size}", release_digest=digest)
    return run_plan(plan, reader, row, out, **options)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "log.txt"}


def answers(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_run(folder).outputs.to_pylist()
    return rows


def test_every_input_is_answered_in_plan_order_and_equal_prompts_once(tmp_path: Path) -> None:
    reader = UpperReader()
    summary = go(tmp_path / "run", ["cc", "a", "bbb", "a"], reader)
    assert [row["text"] for row in answers(tmp_path / "run")] == ["CC of 2", "A of 2", "BBB of 1", "A of 2"]
    assert reader.calls == [2, 1]
    assert summary.planned == 4
    assert summary.prompts == 3
    assert sorted(files(tmp_path / "run")) == ["outputs.parquet", "plan.parquet", "run.json"]


def test_a_row_that_fails_is_recorded_and_its_neighbour_answered(tmp_path: Path) -> None:
    summary = go(tmp_path / "run", ["aa", "poison", "z"])
    good, bad, last = answers(tmp_path / "run")
    assert bad["error"] == "RuntimeError: bad prompt \\udcff"
    assert (bad["finish_reason"], bad["text"], bad["attempts"], bad["prompt_tokens"]) == ("error", "", 2, 6)
    assert good["error"] is None
    assert last["error"] is None
    assert summary.errors == 1
    assert "poison" not in (tmp_path / "run" / "log.txt").read_text()
    assert "RuntimeError: bad prompt" in (tmp_path / "run" / "log.txt").read_text()


def test_a_batch_that_fails_as_a_whole_is_answered_row_by_row(tmp_path: Path) -> None:
    reader = UpperReader()
    summary = go(tmp_path / "run", ["crowd", "alone"], reader)
    assert [row["text"] for row in answers(tmp_path / "run")] == ["CROWD of 1", "ALONE of 1"]
    assert [row["attempts"] for row in answers(tmp_path / "run")] == [2, 2]
    assert summary.errors == 0


def test_a_prompt_that_cannot_be_encoded_is_recorded(tmp_path: Path) -> None:
    go(tmp_path / "run", ["unencodable", "fine", "long one"])
    bad, good, cut = answers(tmp_path / "run")
    assert bad["error"] == "ValueError: no such"
    assert bad["prompt_tokens"] is None
    assert good["text"] == "FINE of 1"
    assert [good["input_truncated"], cut["input_truncated"]] == [False, True]


def test_a_broken_device_stops_the_run_and_blames_no_prompt(tmp_path: Path) -> None:
    class BrokenDevice(UpperReader):
        def generate(self, batch: Sequence[Encoded]) -> list[Answer]:
            if self.calls:
                raise TPBenchError("the GPU failed")
            return super().generate(batch)

    with pytest.raises(TPBenchError, match="the GPU failed"):
        go(tmp_path / "run", ["a", "b", "cc", "dd"], BrokenDevice())
    summary = go(tmp_path / "run", ["a", "b", "cc", "dd"])
    assert (summary.resumed_batches, summary.errors) == (1, 0)


def test_a_reader_that_returns_too_few_answers_does_not_shift_them(tmp_path: Path) -> None:
    class Forgetful(UpperReader):
        def generate(self, batch: Sequence[Encoded]) -> list[Answer]:
            return super().generate(batch)[: max(1, len(batch) - 1)]

    go(tmp_path / "run", ["a", "b"], Forgetful())
    assert [row["text"] for row in answers(tmp_path / "run")] == ["A of 1", "B of 1"]


TEXTS = [f"{'x' * (k % 5)}{k}" for k in range(11)]


def _killed_run(out: str, after: int) -> None:
    go(Path(out), TEXTS, UpperReader(kill_after=after))


@pytest.mark.parametrize("kills", [[0], [1], [5], [3, 0, 1]])
def test_killed_and_started_again_it_ends_with_the_same_bytes(tmp_path: Path, kills: list[int]) -> None:
    go(tmp_path / "whole", TEXTS)
    for after in kills:
        process = multiprocessing.get_context("spawn").Process(target=_killed_run, args=(str(tmp_path / "run"), after))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        with pytest.raises(BadInput, match="not finished"):
            read_run(tmp_path / "run")
    reader = UpperReader()
    summary = go(tmp_path / "run", TEXTS, reader)
    assert summary.resumed_batches == sum(kills)
    assert len(reader.calls) == 6 - sum(kills)
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def _interrupted(out: Path) -> dict[str, bytes]:
    """A run that stopped in its second batch; returns the files of the undisturbed one."""
    with pytest.raises(KeyboardInterrupt):
        go(out, ["a", "b", "interrupt", "more"])
    whole = out.parent / "whole"

    class Patient(UpperReader):
        def generate(self, batch: Sequence[Encoded]) -> list[Answer]:
            return [Answer("yes", "stop", 1) for _ in batch]

    go(whole, ["a", "b", "interrupt", "more"], Patient())
    return files(whole)


def test_an_interrupted_run_keeps_its_batches(tmp_path: Path) -> None:
    _interrupted(tmp_path / "run")
    assert (tmp_path / "run" / "journal.jsonl").read_bytes().count(b"\n") == 1


def test_a_torn_last_record_is_cut_off_and_told(tmp_path: Path) -> None:
    go(tmp_path / "whole", ["a", "b", "cc"])

    class Stopping(UpperReader):
        def generate(self, batch: Sequence[Encoded]) -> list[Answer]:
            if self.calls:
                raise KeyboardInterrupt
            return super().generate(batch)

    with pytest.raises(KeyboardInterrupt):
        go(tmp_path / "run", ["a", "b", "cc"], Stopping())
    journal = tmp_path / "run" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-7])
    told: list[str] = []
    summary = go(tmp_path / "run", ["a", "b", "cc"], warn=told.append)
    assert summary.resumed_batches == 0
    assert any("torn last record" in text for text in told)
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def test_a_kill_between_the_outputs_and_the_last_step_is_mended_without_the_model(tmp_path: Path) -> None:
    reader = UpperReader()
    plan = plan_of(["a", "b", "cc"], reader)
    go(tmp_path / "whole", ["a", "b", "cc"])
    from tpbench_generate import engine

    kept: list[bytes] = []
    original = engine.write_outputs
    engine.write_outputs = lambda out, table: (kept.append((out / "journal.jsonl").read_bytes()), original(out, table))[
        1
    ]  # type: ignore[assignment, misc]
    try:
        go(tmp_path / "run", ["a", "b", "cc"])
    finally:
        engine.write_outputs = original
    (tmp_path / "run" / "journal.jsonl").write_bytes(kept[0])
    (tmp_path / "run" / ".outputs.parquet.abc.tmp").write_bytes(b"left over")
    go(tmp_path / "run", ["a", "b", "cc"], reader)
    assert reader.loads == 0
    assert files(tmp_path / "run") == files(tmp_path / "whole")
    assert len(plan.batches) == 2


@pytest.mark.parametrize("left", [["log.txt"], ["log.txt", "plan.parquet"], [".run.json.x1.tmp", "plan.parquet"]])
def test_a_start_that_was_killed_before_run_json_is_begun_anew(tmp_path: Path, left: list[str]) -> None:
    (tmp_path / "run").mkdir()
    for name in left:
        (tmp_path / "run" / name).write_bytes(b"half")
    go(tmp_path / "run", ["a"])
    assert sorted(files(tmp_path / "run")) == ["outputs.parquet", "plan.parquet", "run.json"]


def test_a_finished_run_is_left_alone(tmp_path: Path) -> None:
    go(tmp_path / "run", ["a", "b"])
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in (tmp_path / "run").iterdir()}
    reader = UpperReader()
    summary = go(tmp_path / "run", ["a", "b"], reader)
    assert summary.was_finished
    assert reader.loads == 0
    after = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in (tmp_path / "run").iterdir()}
    assert before == after


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"reader": UpperReader(dataclasses.replace(SETTINGS, max_new_tokens=6))}, "max_new_tokens is 5 there and 6"),
        ({"reader": UpperReader(dataclasses.replace(SETTINGS, model_revision="2"))}, "model_revision is 1 there and 2"),
        ({"batch_size": 3}, "batch_plan is batch_size=2 there and batch_size=3 here"),
        ({"digest": "e"}, "release_digest is d there and e here"),
        ({"texts": ["a", "b"]}, "the plan has 3 inputs there and 2 here"),
        ({"texts": ["a", "b", "d"]}, "the plan has other inputs, prompts or batches there"),
    ],
)
@pytest.mark.parametrize("finished", [True, False])
def test_another_run_in_the_folder_is_refused_and_the_difference_named(
    tmp_path: Path, change: dict[str, Any], reason: str, finished: bool
) -> None:
    go(tmp_path / "run", ["a", "b", "c"])
    if not finished:
        (tmp_path / "run" / "outputs.parquet").unlink()
    before = files(tmp_path / "run")
    with pytest.raises(BadInput, match=f"holds another run.*{reason}.*another --out"):
        go(tmp_path / "run", **{"texts": ["a", "b", "c"], **change})
    assert files(tmp_path / "run") == before


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(BadInput, match=r"holds 'thesis.tex' but no run"):
        go(tmp_path, ["a"])
    with pytest.raises(BadInput, match="is not a folder"):
        go(tmp_path / "thesis.tex", ["a"])


def test_two_processes_do_not_work_on_one_folder(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with exclusive(tmp_path / "run" / "log.txt", wait=False), pytest.raises(BadInput, match="another process"):
        go(tmp_path / "run", ["a"])
    go(tmp_path / "run", ["a"])


def test_a_disk_that_fails_is_one_error_and_nothing_is_lost(tmp_path: Path) -> None:
    class FullDisk(UpperReader):
        def load(self) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(BadInput, match=r"cannot write: No space left.*same command again"):
        go(tmp_path / "run", ["a", "b", "c"], FullDisk())
    go(tmp_path / "run", ["a", "b", "c"])


def test_another_machine_may_go_on_and_both_are_named(tmp_path: Path) -> None:
    _interrupted(tmp_path / "run")

    class Elsewhere(UpperReader):
        def generate(self, batch: Sequence[Encoded]) -> list[Answer]:
            return [Answer("yes", "stop", 1) for _ in batch]

    told: list[str] = []
    go(tmp_path / "run", ["a", "b", "interrupt", "more"], Elsewhere(device="there"), warn=told.append)
    assert read_run(tmp_path / "run").run["device"] == "here; there"
    assert any("another environment" in text for text in told)


def test_progress_counts_up_and_ends_at_the_total(tmp_path: Path) -> None:
    seen: list[Progress] = []
    go(tmp_path / "run", ["a", "b", "c"], on_progress=seen.append)
    assert [now.done for now in seen] == [0, 2, 3]
    assert seen[-1].seconds_left == 0


def row_of(settings: ReaderSettings = SETTINGS, role: str = "main") -> Mapping[str, Any]:
    return settings_columns(settings, role)


@pytest.mark.parametrize(
    "change",
    [
        {"model_id": "lower"},
        {"model_revision": "2"},
        {"backend": "other"},
        {"dtype": "bfloat16"},
        {"attention": "eager"},
        {"max_input_tokens": 99},
        {"max_new_tokens": 6},
        {"truncation_side": "right"},
        {"system_role": "folded"},
        {"decoding": "sampling"},
        {"stop_token_ids": (2,)},
        {"template_hash": "cd"},
        {"kv_settings": "{}"},
        {"seed": 1},
    ],
)
def test_every_setting_that_can_change_an_answer_changes_the_run_id(change: dict[str, Any]) -> None:
    assert row_of(dataclasses.replace(SETTINGS, **change))["run_id"] != row_of()["run_id"]


def test_the_role_changes_the_run_id() -> None:
    assert row_of(role="kv")["run_id"] != row_of()["run_id"]


def test_the_run_id_is_slug_and_eight_hex_and_pinned() -> None:
    assert row_of()["run_id"] == "upper-aec0195f"


def test_pad_token_and_spelling_of_the_name_do_not_change_the_run_id() -> None:
    other = dataclasses.replace(SETTINGS, pad_token_id=9, reader="hf:./upper")
    assert row_of(other)["run_id"] == row_of()["run_id"]


def test_batch_size_device_release_and_folder_do_not_change_the_run_id(tmp_path: Path) -> None:
    first = go(tmp_path / "a", ["a", "b"])
    second = go(tmp_path / "b", ["a", "b", "c"], UpperReader(device="there"), batch_size=1, digest="e")
    assert first.run_id == second.run_id


def test_environments_are_joined_without_repeats() -> None:
    one = environment_columns(Environment("cpu", {"torch": "1", "python": "3"}))
    two = environment_columns(Environment("gpu", {"torch": "2", "python": "3"}))
    both = joined_environment(one, two)
    assert both == {"device": "cpu; gpu", "library_versions": '{"python":"3","torch":"1; 2"}'}
    assert joined_environment(both, one) == both
