"""Shares of a run, joining them, trying errors again, and what status says: with a scripted reader."""

from __future__ import annotations

import multiprocessing
import random
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_generate_engine import SETTINGS, TEXTS, UpperReader, answers, files, go, plan_of

from tpbench_data.errors import BadInput, TPBenchError
from tpbench_data.run_folder import read_run
from tpbench_generate.engine import retry_errors, run_row
from tpbench_generate.merging import merge_shards
from tpbench_generate.readers.base import Answer, Encoded, Failure
from tpbench_generate.run_summary import RunSummary
from tpbench_generate.shards import Shard, parse_shard
from tpbench_generate.status import read_status, setting_differences


def shares(place: Path, of: int, texts: Sequence[str] = TEXTS, **options: Any) -> list[Path]:
    folders = [place / f"share-{index}" for index in range(of)]
    for index, folder in enumerate(folders):
        go(folder, texts, shard=Shard(index, of), **options)
    return folders


@pytest.mark.parametrize("of", [1, 2, 3, 4, 9])
def test_merged_shares_have_the_bytes_of_an_undivided_run(tmp_path: Path, of: int) -> None:
    texts = [*TEXTS, "poison", "unencodable", "x0"]
    go(tmp_path / "whole", texts)
    folders = shares(tmp_path, of, texts)
    summary = merge_shards(folders[::-1], tmp_path / "merged")
    assert files(tmp_path / "merged") == files(tmp_path / "whole")
    assert (summary.shards, summary.planned, summary.errors) == (of, len(texts), 2)
    assert go(tmp_path / "merged", texts).was_finished


def test_a_share_makes_the_same_batches_and_only_its_own(tmp_path: Path) -> None:
    whole, first, second = UpperReader(), UpperReader(), UpperReader()
    go(tmp_path / "whole", TEXTS, whole)
    one = go(tmp_path / "a", TEXTS, first, shard=Shard(0, 2))
    two = go(tmp_path / "b", TEXTS, second, shard=Shard(1, 2))
    assert first.calls == whole.calls[0::2]
    assert second.calls == whole.calls[1::2]
    assert one.planned + two.planned == len(TEXTS)
    assert (one.shard, one.batches, two.batches) == ("0/2", 3, 3)
    again = UpperReader()
    assert go(tmp_path / "a", TEXTS, again, shard=Shard(0, 2)).was_finished
    assert again.loads == 0


def _killed_share(out: str, after: int) -> None:
    go(Path(out), TEXTS, UpperReader(kill_after=after), shard=Shard(1, 2))


def test_a_killed_share_goes_on_and_merge_waits_for_it(tmp_path: Path) -> None:
    go(tmp_path / "whole", TEXTS)
    go(tmp_path / "0", TEXTS, shard=Shard(0, 2))
    process = multiprocessing.get_context("spawn").Process(target=_killed_share, args=(str(tmp_path / "1"), 1))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    with pytest.raises(BadInput, match=r"share 1/2 is not finished: 2 of 3 batches are to do"):
        merge_shards([tmp_path / "0", tmp_path / "1"], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()
    go(tmp_path / "1", TEXTS, shard=Shard(1, 2))
    merge_shards([tmp_path / "0", tmp_path / "1"], tmp_path / "merged")
    assert files(tmp_path / "merged") == files(tmp_path / "whole")


def test_what_cannot_be_merged_is_told(tmp_path: Path) -> None:
    zero, one, two = shares(tmp_path / "three", 3)
    go(tmp_path / "whole", TEXTS)
    other = go(tmp_path / "other", TEXTS[:5], shard=Shard(1, 3))
    for folders, reason in [
        ([zero, two], "share 1/3 of this run is missing"),
        ([zero, one, two, one], "is share 1/3, as is"),
        ([zero, two, Path(other.folder)], "holds another run"),
        ([tmp_path / "whole"], "holds a whole run, not a share"),
        ([*shares(tmp_path / "two", 2)[:1], zero, one], "but .* is share 0/2"),
        ([zero, tmp_path / "nowhere"], "no such run folder"),
    ]:
        with pytest.raises(BadInput, match=reason):
            merge_shards(folders, tmp_path / "merged")
        assert not (tmp_path / "merged").exists()
    with pytest.raises(BadInput, match="already exists"):
        merge_shards([zero, one, two], tmp_path / "whole")


def test_a_share_is_not_a_run_and_its_folder_not_another_share_s(tmp_path: Path) -> None:
    go(tmp_path / "a", TEXTS, shard=Shard(0, 2))
    with pytest.raises(BadInput, match=r"only a share of a run.*merge"):
        read_run(tmp_path / "a")
    with pytest.raises(BadInput, match="--shard is 0/2 there and 1/2 here"):
        go(tmp_path / "a", TEXTS, shard=Shard(1, 2))
    with pytest.raises(BadInput, match="--shard is 0/2 there and unset here"):
        go(tmp_path / "a", TEXTS)


def test_shares_from_several_machines_name_them_all(tmp_path: Path) -> None:
    go(tmp_path / "a", TEXTS, UpperReader(device="here"), shard=Shard(0, 2))
    go(tmp_path / "b", TEXTS, UpperReader(device="there"), shard=Shard(1, 2))
    merge_shards([tmp_path / "b", tmp_path / "a"], tmp_path / "merged")
    assert read_run(tmp_path / "merged").run["device"] == "here; there"


@pytest.mark.parametrize("text", ["3/3", "1", "a/b", "-1/2", "0/0", "1/2/3", "1.0/2"])
def test_a_share_that_is_none_is_refused(text: str) -> None:
    assert parse_shard("0/1") == Shard(0, 1)
    with pytest.raises(BadInput, match="is no share"):
        parse_shard(text)


class Moody(UpperReader):
    """Fails, in its own words, every prompt that contains one of ``bad``; may kill itself like its parent."""

    def __init__(self, bad: Sequence[str] = (), **options: Any) -> None:
        super().__init__(**options)
        self.bad = tuple(bad)

    def generate(self, batch: Sequence[Encoded]) -> list[Answer | Failure]:  # type: ignore[override]
        answered = super().generate(batch)
        texts = ["".join(map(chr, prompt.ids)) for prompt in batch]
        return [
            Failure("Timeout", "too slow", 3) if any(word in text for word in self.bad) else answer
            for text, answer in zip(texts, answered, strict=True)
        ]


def retry(out: Path, texts: Sequence[str], reader: UpperReader, batch_size: int = 2) -> RunSummary:
    plan = plan_of(texts, reader, batch_size)
    row = run_row(plan, reader, role="main", batch_plan=f"batch_size={batch_size}", release_digest="d")
    return retry_errors(plan, reader, row, out)


def test_a_reader_s_own_failures_are_recorded_with_kind_and_attempts_and_not_tried_again(tmp_path: Path) -> None:
    reader = Moody(["b"])
    go(tmp_path / "run", ["a", "b"], reader)
    good, bad = answers(tmp_path / "run")
    assert (bad["error"], bad["attempts"], bad["finish_reason"]) == ("Timeout: too slow", 3, "error")
    assert good["attempts"] == 1
    assert reader.calls == [2]


def test_retry_answers_only_errors_and_adds_attempts(tmp_path: Path) -> None:
    texts = ["a", "b", "cc", "dd", "b"]
    go(tmp_path / "run", texts, Moody(["b", "dd"]))
    before = answers(tmp_path / "run")
    reader = Moody(["dd"])
    summary = retry(tmp_path / "run", texts, reader)
    after = answers(tmp_path / "run")
    assert reader.calls == [1, 1]
    assert summary.errors == 1
    assert [row["attempts"] for row in after] == [1, 4, 1, 6, 4]
    assert [row["error"] for row in after] == [None, None, None, "Timeout: too slow", None]
    assert [after[k] for k in (0, 2)] == [before[k] for k in (0, 2)]
    assert sorted(files(tmp_path / "run")) == ["outputs.parquet", "plan.parquet", "run.json"]


def test_a_retry_without_errors_does_nothing(tmp_path: Path) -> None:
    go(tmp_path / "run", ["a", "b"])
    before = files(tmp_path / "run")
    reader = UpperReader()
    assert retry(tmp_path / "run", ["a", "b"], reader).was_finished
    assert reader.loads == 0
    assert files(tmp_path / "run") == before


def test_an_unfinished_run_is_not_retried(tmp_path: Path) -> None:
    go(tmp_path / "run", ["a", "b"])
    (tmp_path / "run" / "outputs.parquet").unlink()
    with pytest.raises(BadInput, match="not finished"):
        retry(tmp_path / "run", ["a", "b"], UpperReader())


def _killed_retry(out: str, after: int) -> None:
    retry(Path(out), TEXTS, Moody(kill_after=after))


def test_a_killed_retry_loses_nothing_and_goes_on(tmp_path: Path) -> None:
    for name in ("whole", "run"):
        go(tmp_path / name, TEXTS, Moody(["1", "2", "3"]))
    retry(tmp_path / "whole", TEXTS, Moody())
    before = files(tmp_path / "run")
    process = multiprocessing.get_context("spawn").Process(target=_killed_retry, args=(str(tmp_path / "run"), 2))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert {name: data for name, data in files(tmp_path / "run").items() if name in before} == before
    reader = Moody()
    assert retry(tmp_path / "run", TEXTS, reader).resumed_batches == 2
    assert files(tmp_path / "run") == files(tmp_path / "whole")
    (tmp_path / "run" / "retry-000000000000.jsonl").write_bytes(b"of an earlier retry\n")
    assert retry(tmp_path / "run", TEXTS, UpperReader()).errors == 0
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def test_status_counts_batches_prompts_and_kinds_of_errors(tmp_path: Path) -> None:
    class Stopping(Moody):
        def generate(self, batch: Sequence[Encoded]) -> list[Answer | Failure]:  # type: ignore[override]
            if len(self.calls) == 2:
                raise TPBenchError("stop")
            return super().generate(batch)

    texts = ["a", "b", "cc", "poison", "a", "looooong"]
    with pytest.raises(TPBenchError):
        go(tmp_path / "run", texts, Stopping(["b"]))
    with (tmp_path / "run" / "journal.jsonl").open("ab") as file:
        file.write(b"torn")
    before = files(tmp_path / "run")
    status = read_status(tmp_path / "run")
    assert (status.state, status.batches_done, status.batches) == ("stopped", 1, 3)
    assert (status.prompts_done, status.prompts, status.inputs, status.torn_bytes) == (2, 5, 6, 4)
    assert (status.answered, status.errors) == (2, {"Timeout": 1})
    assert files(tmp_path / "run") == before
    go(tmp_path / "run", texts, Moody(["b"]))
    status = read_status(tmp_path / "run")
    assert (status.state, status.errors) == ("finished", {"RuntimeError": 1, "Timeout": 1})
    assert status.answered == 4


def test_status_of_a_share_counts_its_own(tmp_path: Path) -> None:
    folders = shares(tmp_path, 2)
    found = [read_status(folder) for folder in folders]
    assert [status.shard for status in found] == ["0/2", "1/2"]
    assert [status.state for status in found] == ["finished"] * 2
    assert sum(status.inputs for status in found) == len(TEXTS)


def test_status_names_the_setting_in_which_two_runs_differ(tmp_path: Path) -> None:
    import dataclasses

    go(tmp_path / "a", ["a"])
    go(tmp_path / "b", ["a"], UpperReader(dataclasses.replace(SETTINGS, dtype="bfloat16")))
    go(tmp_path / "c", ["a"], UpperReader(device="there"))
    assert setting_differences(tmp_path / "a", tmp_path / "b") == ["dtype is unset there and bfloat16 here"]
    assert setting_differences(tmp_path / "a", tmp_path / "c") == []


def test_any_order_of_shares_merges_to_the_same_bytes(tmp_path: Path) -> None:
    folders = shares(tmp_path, 4)
    merge_shards(folders, tmp_path / "m0")
    for number in range(1, 4):
        random.Random(number).shuffle(folders)
        merge_shards(folders, tmp_path / f"m{number}")
        assert files(tmp_path / f"m{number}") == files(tmp_path / "m0")
