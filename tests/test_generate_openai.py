"""Served models: a server of ours that fails in every way, and a real llama.cpp server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import hears_interrupts, run_command

pytest.importorskip("openai")

from faulty_server import MODEL, Fault, FaultyServer, faulty_server

from tpbench_data.errors import BadInput, TPBenchError
from tpbench_data.run_folder import read_run
from tpbench_generate.answering import encoder_of
from tpbench_generate.engine import run_plan, run_row
from tpbench_generate.plan import PlannedInput, make_plan
from tpbench_generate.readers.base import Answer, Failure, ReaderOptions
from tpbench_generate.readers.chat_client import retry_after
from tpbench_generate.readers.openai_reader import OpenAIReader
from tpbench_generate.readers.server import Server, parse_server
from tpbench_generate.run_summary import RunSummary

KEY = "sk-never-to-be-stored-123"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "TPBENCH_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def reader_of(server: FaultyServer, **changes: Any) -> OpenAIReader:
    settings = {"backoff_s": 0.01, "timeout_s": 5.0, "max_attempts": 3, **changes}
    return OpenAIReader(Server(MODEL, server.url, **settings), ReaderOptions(max_new_tokens=7))


def ask(reader: OpenAIReader, *texts: str) -> list[Answer | Failure]:
    return reader.generate([reader.encode([{"role": "user", "content": text}]) for text in texts])


def go(out: Path, reader: OpenAIReader, texts: Sequence[str], batch_size: int = 4) -> RunSummary:
    inputs = [
        PlannedInput(f"i{k}", "current_value", "recency", 0.3, ({"role": "user", "content": text},))
        for k, text in enumerate(texts)
    ]
    plan = make_plan(inputs, encoder_of(reader), batch_size)
    row = run_row(plan, reader, role="main", batch_plan=f"batch_size={batch_size}", release_digest="d")
    return run_plan(plan, reader, row, out)


def test_answers_come_in_order_with_the_counts_of_the_server() -> None:
    with faulty_server() as server:
        found = ask(reader_of(server), "one word", "two", "three more words")
        assert [one.text for one in found if isinstance(one, Answer)] == ["ONE WORD", "TWO", "THREE MORE WORDS"]
        assert found[0] == Answer("ONE WORD", "stop", 2, prompt_tokens=2, attempts=1)
        request = server.requests[0]
        assert request["stream"] is False
        assert (request["temperature"], request["top_p"], request["max_tokens"]) == (0.0, 1.0, 7)


def test_parameters_and_the_name_of_the_limit_reach_the_server_and_the_run_id() -> None:
    with faulty_server() as server:
        plain = reader_of(server)
        other = reader_of(server, parameters={"top_k": 1}, max_tokens_field="max_completion_tokens", greedy=False)
        ask(other, "a")
        assert server.requests[0]["max_completion_tokens"] == 7
        assert server.requests[0]["top_k"] == 1
        assert "temperature" not in server.requests[0]
        assert plain.settings.decoding == "greedy"
        assert other.settings.decoding == 'server default; {"top_k":1}'


@pytest.mark.parametrize(
    "fault",
    [
        Fault("bad", "status", status=500),
        Fault("bad", "status", status=503, body="<html>busy</html>"),
        Fault("bad", "status", status=429, headers={"Retry-After": "0"}),
        Fault("bad", "garbage"),
        Fault("bad", "other_json", body='{"hello": 1}'),
        Fault("bad", "other_json", body='{"choices": []}'),
        Fault("bad", "other_json", body='"text"'),
        Fault("bad", "drop"),
        Fault("bad", "half"),
        Fault("bad", "slow", seconds=1.5),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}-{fault.body[:12]}",
)
def test_what_may_pass_is_tried_again_and_attempts_are_counted(fault: Fault) -> None:
    with faulty_server(Fault(**fault.__dict__)) as server:
        good, mended = ask(reader_of(server, timeout_s=0.5), "good", "bad")
        assert good == Answer("GOOD", "stop", 2, prompt_tokens=1, attempts=1)
        assert mended == Answer("BAD", "stop", 2, prompt_tokens=1, attempts=2)
        assert server.asked("good") == 1
        assert server.asked("bad") == 2


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("bad", "status", times=9, status=500), "ServerError"),
        (Fault("bad", "status", times=9, status=429), "RateLimit"),
        (Fault("bad", "garbage", times=9), "MalformedReply"),
        (Fault("bad", "drop", times=9), "ConnectionError"),
        (Fault("bad", "slow", times=9, seconds=0.6), "Timeout"),
    ],
)
def test_what_does_not_pass_is_an_error_of_its_kind_after_the_last_attempt(fault: Fault, kind: str) -> None:
    with faulty_server(fault) as server:
        good, failed = ask(reader_of(server, timeout_s=0.3), "good", "bad")
        assert isinstance(good, Answer)
        assert isinstance(failed, Failure)
        assert (failed.kind, failed.attempts) == (kind, 3)
        assert server.asked("bad") == 3


@pytest.mark.parametrize("status", [400, 408, 413, 422])
def test_other_refusals_are_not_tried_again(status: int) -> None:
    with faulty_server(Fault("bad", "status", times=9, status=status)) as server:
        found = ask(reader_of(server), "bad")
        assert found == [Failure("BadRequest", f"{status}: as told", 1)]
        assert server.asked("bad") == 1


def test_retry_after_is_obeyed_up_to_the_longest_wait() -> None:
    for header, longest, least, most in (("1", 60.0, 0.9, 3.0), ("3600", 0.5, 0.4, 2.5)):
        fault = Fault("bad", "status", status=429, headers={"Retry-After": header})
        with faulty_server(fault) as server:
            ask(reader_of(server, longest_wait_s=longest), "bad")
            first, second = (moment for _, moment in server.times)
            assert least <= second - first < most


def test_retry_after_may_be_a_date_or_nonsense() -> None:
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert (retry_after("Fri, 01 Jan 2100 00:00:00 GMT") or 0) > 3000
    assert [retry_after(text) for text in (None, "", "soon", "nan")] == [None] * 4
    assert retry_after("-5") == 0.0


def test_as_many_requests_as_asked_for_are_under_way_at_once() -> None:
    with faulty_server() as server:
        server.pause = 0.1
        ask(reader_of(server, concurrency=3), *"abcdefgh")
        assert server.most_at_once == 3


def test_a_filtered_answer_is_an_error_and_an_empty_one_is_an_answer() -> None:
    def reply(content: str, reason: str) -> str:
        message = {"role": "assistant", "content": content}
        return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": reason}]})

    faults = [
        Fault("filtered", "other_json", body=reply("", "content_filter")),
        Fault("empty", "other_json", body=reply("", "stop")),
        Fault("long", "other_json", body=reply("<think>so</think> x", "length")),
    ]
    with faulty_server(*faults) as server:
        filtered, empty, long = ask(reader_of(server), "filtered", "empty", "long")
        assert isinstance(filtered, Failure)
        assert filtered.kind == "ContentFilter"
        assert empty == Answer("", "stop", None, prompt_tokens=None, attempts=1)
        assert long == Answer("<think>so</think> x", "length", None, prompt_tokens=None, attempts=1)


ALL_FAULTS = [
    Fault("p01", "status", status=429, headers={"Retry-After": "0"}),
    Fault("p02", "status", times=9, status=500),
    Fault("p03", "garbage"),
    Fault("p04", "slow", seconds=1.0),
    Fault("p05", "drop"),
    Fault("p06", "half"),
    Fault("p07", "status", times=9, status=400, body='{"error": {"message": "too long"}}'),
    Fault("p08", "garbage", times=9),
]


def test_a_run_answers_or_records_every_input_none_twice_none_lost(tmp_path: Path) -> None:
    texts = [f"p{k:02} says hello" for k in range(24)]
    with faulty_server(*[Fault(**fault.__dict__) for fault in ALL_FAULTS]) as server:
        summary = go(tmp_path / "run", reader_of(server, timeout_s=0.4), texts, batch_size=10)
        rows = read_run(tmp_path / "run").outputs.to_pylist()
        assert [row["input_id"] for row in rows] == [f"i{k}" for k in range(24)]
        errors = {row["input_id"]: row["error"] for row in rows if row["error"]}
        assert errors == {
            "i2": "ServerError: 500: as told",
            "i7": "BadRequest: 400: too long",
            "i8": errors["i8"],
        }
        assert errors["i8"].startswith("MalformedReply: not JSON")
        for k, row in enumerate(rows):
            if row["error"] is None:
                assert row["text"] == texts[k].upper()
                assert row["prompt_tokens"] == 3
        assert {row["input_id"]: row["attempts"] for row in rows if row["attempts"] != 1} == {
            f"i{k}": n for k, n in ((1, 2), (2, 3), (3, 2), (4, 2), (5, 2), (6, 2), (8, 3))
        }
        assert summary.errors == 3
        assert server.asked("p00") == 1


def test_equal_prompts_are_sent_once(tmp_path: Path) -> None:
    with faulty_server() as server:
        go(tmp_path / "run", reader_of(server), ["same", "same", "other"])
        assert sorted(text for text, _ in server.times) == ["other", "same"]


def test_the_key_goes_to_the_server_and_into_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPBENCH_API_KEY", KEY)
    echo = Fault("bad", "status", times=9, status=400, body=json.dumps({"error": {"message": f"no {KEY} here"}}))
    with faulty_server(echo, key=KEY) as server:
        reader = reader_of(server)
        go(tmp_path / "run", reader, ["fine", "bad"])
        assert [row["error"] for row in read_run(tmp_path / "run").outputs.to_pylist()] == [
            None,
            "BadRequest: 400: no *** here",
        ]
        for path in (tmp_path / "run").iterdir():
            assert KEY.encode() not in path.read_bytes(), path.name


def test_the_usual_key_is_not_sent_to_an_address_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with faulty_server(key=KEY) as server:
        with pytest.raises(BadInput, match="TPBENCH_API_KEY"):
            reader_of(server).load()
        reader_of(server, api_key_env="OPENAI_API_KEY").load()


def test_a_refused_key_stops_the_run_and_blames_no_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TPBENCH_API_KEY", "sk-wrong")
    with faulty_server(key=KEY) as server:
        with pytest.raises(BadInput, match=r"refused with 401: Incorrect API key provided: \*\*\*") as told:
            go(tmp_path / "run", reader_of(server), ["a"])
        assert "sk-wrong" not in str(told.value)
        with pytest.raises(TPBenchError, match=r"finished batches are kept"):
            go(tmp_path / "run", reader_of(server, check_model=False), ["a"])
        assert not (tmp_path / "run" / "outputs.parquet").exists()
        monkeypatch.setenv("TPBENCH_API_KEY", KEY)
        assert go(tmp_path / "run", reader_of(server), ["a"]).errors == 0


def test_a_model_that_the_server_lacks_and_a_server_that_is_not_there_are_told(tmp_path: Path) -> None:
    with faulty_server() as server:
        server.listed = ("other-1", "other-2")
        with pytest.raises(BadInput, match=r"has no model 'parrot-1'. It has: other-1, other-2"):
            reader_of(server).load()
        server.listed = (MODEL,)
        reader = reader_of(server)
    with pytest.raises(BadInput, match=r"no answer from server http://127.0.0.1.*Start the server"):
        go(tmp_path / "run", reader, ["a"])


def test_a_server_that_goes_away_stops_the_run_with_its_batches_kept(tmp_path: Path) -> None:
    texts = [f"p{k}" for k in range(6)]
    with faulty_server() as server:
        reader = reader_of(server, max_attempts=2)
        reader.load()
        original = reader.generate

        def until_gone(batch: Any) -> Any:
            if len(server.times) >= 2:
                raise TPBenchError("stop here")
            return original(batch)

        reader.generate = until_gone  # type: ignore[method-assign]
        with pytest.raises(TPBenchError):
            go(tmp_path / "run", reader, texts, batch_size=2)
    gone = reader_of(server, check_model=False, max_attempts=2)
    with pytest.raises(TPBenchError, match="cannot be reached any more"):
        go(tmp_path / "run", gone, texts, batch_size=2)
    with faulty_server() as server:
        assert go(tmp_path / "run", reader_of(server), texts, batch_size=2).resumed_batches == 1
        assert server.asked("p") == 4
    assert [row["text"] for row in read_run(tmp_path / "run").outputs.to_pylist()] == [t.upper() for t in texts]


def test_another_address_is_the_same_run_and_another_model_is_not() -> None:
    one = OpenAIReader(Server("m", "http://here:1/v1"), ReaderOptions()).settings
    two = OpenAIReader(Server("m", "http://there:2/v1", concurrency=2), ReaderOptions()).settings
    assert one == two
    assert one != OpenAIReader(Server("n", "http://here:1/v1"), ReaderOptions()).settings


@pytest.mark.parametrize(
    ("name", "model", "url"),
    [
        ("openai:m@http://localhost:8000/v1", "m", "http://localhost:8000/v1"),
        ("openai:ORG/m@rev@https://h/v1/", "ORG/m@rev", "https://h/v1"),
        ("openai:gpt", "gpt", None),
    ],
)
def test_names_are_read(name: str, model: str, url: str | None) -> None:
    assert parse_server(name) == Server(model, url)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("openai:", "names no model"),
        ("openai:@http://h/v1", "names no model"),
        ("openai:m@http://user:secret@h/v1", "would end up in the run folder"),
        ("openai:m@http://h/v1?key=secret", "would end up in the run folder"),
        ("openai:m@http://", "no address"),
        ("openai:m@http://h:port/v1", "no address"),
    ],
)
def test_bad_names_are_refused_and_no_secret_is_told(name: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason) as told:
        parse_server(name)
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"concurrency": 0}, "at least 1"),
        ({"timeout_s": 0}, "above 0"),
        ({"parameters": {"temperature": 1}}, "'temperature' is set by tpbench"),
        ({"max_tokens_field": "limit"}, "max_tokens or max_completion_tokens"),
    ],
)
def test_settings_out_of_range_are_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        Server("m", **change)


def test_the_hosted_service_needs_a_key_and_options_of_a_local_model_are_refused() -> None:
    with pytest.raises(BadInput, match="OPENAI_API_KEY is not set"):
        OpenAIReader(Server("gpt"), ReaderOptions())
    with pytest.raises(BadInput, match=r"--attention.*means nothing to a served model"):
        OpenAIReader(Server("m", "http://h/v1"), ReaderOptions(attention="eager"))


def test_the_command_runs_against_a_server_and_ctrl_c_does_not_wait_for_it(built_once: Path, tmp_path: Path) -> None:
    with faulty_server() as server:
        options = ["--release", built_once, "--reader", f"openai:{MODEL}@{server.url}", "--out", tmp_path / "run"]
        options += ["--limit", 8, "--probe", "current_value"]
        done = run_command("tpbench-generate", "run", *options)
        assert done.returncode == 0, done.stderr
        run = read_run(tmp_path / "run")
        assert run.run["reader"] == f"openai:{MODEL}"
        assert run.run["backend"] == "openai"
        assert run.run["first_token_ids"] is None
        assert run.outputs["error"].null_count == 8
        server.pause = 60
        options[5] = tmp_path / "stopped"
        code = "from tpbench_generate.cli import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", code, "run", *map(str, options)],
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=hears_interrupts,
        )
        before = len(server.requests)
        while len(server.requests) == before:
            assert process.poll() is None
            time.sleep(0.02)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
        assert process.returncode == 130, told
        assert time.monotonic() - begin < 10
        assert "Traceback" not in told
