"""Listing, downloading and recognising the source corpora; every download fault on a loopback server."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from conftest import run_command, sgd_dialogue, shared_file
from corpus_files import legacy_dialogue, multiwoz22_dialogue, risawoz_dialogue, write_json
from http_server import Server, serving

from tpbench_data.corpora import CORPORA
from tpbench_data.errors import BadInput
from tpbench_data.sources import catalogue, download, identify
from tpbench_data.sources.catalogue import sources
from tpbench_data.sources.download import fetch

DATA = bytes(range(256)) * 40
HASH = sha256(DATA).hexdigest()


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        running.content["/file"] = DATA
        yield running


def get(server: Server, target: Path, expected: str | None = HASH, path: str = "/file", attempts: int = 3) -> Path:
    return fetch(server.url + path, target, expected, attempts=attempts, wait_s=0).path


def cut_after(server: Server, *sizes: int) -> None:
    def handler(size: int) -> object:
        return lambda request, data: server.send(request, data, cut=size)

    server.special["/file"] = [handler(size) for size in sizes]  # type: ignore[misc]


def test_a_whole_file_is_fetched_once(tmp_path: Path, server: Server) -> None:
    target = tmp_path / "deep" / "file"
    assert get(server, target).read_bytes() == DATA
    assert get(server, target).read_bytes() == DATA
    assert len(server.requests) == 1
    assert [path.name for path in target.parent.iterdir()] == ["file"]


def test_a_truncated_body_is_resumed_where_it_broke_off(tmp_path: Path, server: Server) -> None:
    cut_after(server, 1000, 500)
    assert get(server, tmp_path / "file").read_bytes() == DATA
    assert [asked for _, asked in server.requests] == [None, "bytes=1000-", "bytes=1500-"]


def test_a_later_call_goes_on_after_all_attempts_failed(tmp_path: Path, server: Server) -> None:
    cut_after(server, 1000, 10)
    with pytest.raises(BadInput, match=r"failed 2 times.*goes on where it stopped"):
        get(server, tmp_path / "file", attempts=2)
    assert not (tmp_path / "file").exists()
    assert (tmp_path / "file.part").stat().st_size == 1010
    assert get(server, tmp_path / "file").read_bytes() == DATA
    assert server.requests[-1] == ("/file", "bytes=1010-")


def test_a_file_that_changed_in_between_is_fetched_anew(tmp_path: Path, server: Server) -> None:
    cut_after(server, 1000)
    with pytest.raises(BadInput):
        get(server, tmp_path / "file", attempts=1)
    server.content["/file"], server.etag = DATA[::-1], '"v2"'
    assert get(server, tmp_path / "file", sha256(DATA[::-1]).hexdigest()).read_bytes() == DATA[::-1]


def test_a_server_without_ranges_starts_over(tmp_path: Path, server: Server) -> None:
    cut_after(server, 1000)
    server.special["/file"].append(lambda request, data: server.send(request, data, ranges=False))
    assert get(server, tmp_path / "file").read_bytes() == DATA


def test_without_a_validator_nothing_is_glued_together(tmp_path: Path, server: Server) -> None:
    server.etag = None
    cut_after(server, 1000)
    assert get(server, tmp_path / "file").read_bytes() == DATA
    assert [asked for _, asked in server.requests] == [None, None]


def test_a_part_that_is_whole_already_is_put_in_place(tmp_path: Path, server: Server) -> None:
    (tmp_path / "file.part").write_bytes(DATA)
    (tmp_path / "file.part.json").write_text(json.dumps({"mark": server.etag}), encoding="utf-8")
    assert get(server, tmp_path / "file").read_bytes() == DATA
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_part_longer_than_the_file_is_thrown_away(tmp_path: Path, server: Server) -> None:
    (tmp_path / "file.part").write_bytes(DATA + b"x")
    (tmp_path / "file.part.json").write_text(json.dumps({"mark": server.etag}), encoding="utf-8")
    assert get(server, tmp_path / "file").read_bytes() == DATA


def test_a_wrong_hash_leaves_nothing_in_place(tmp_path: Path, server: Server) -> None:
    with pytest.raises(BadInput, match=f"SHA-256 {HASH} instead of 0000"):
        get(server, tmp_path / "file", "0" * 64)
    assert list(tmp_path.iterdir()) == []


def test_without_a_known_hash_what_comes_is_taken(tmp_path: Path, server: Server) -> None:
    assert get(server, tmp_path / "file", None).read_bytes() == DATA


def test_a_present_file_with_another_hash_is_not_overwritten(tmp_path: Path, server: Server) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(BadInput, match="there already"):
        get(server, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"mine"
    assert server.requests == []


def test_404_is_one_error_at_once(tmp_path: Path, server: Server) -> None:
    with pytest.raises(BadInput, match="answers 404"):
        get(server, tmp_path / "file", path="/nowhere")
    assert len(server.requests) == 1


def test_a_failing_server_is_tried_again(tmp_path: Path, server: Server) -> None:
    def fail(request: BaseHTTPRequestHandler, data: bytes) -> None:
        request.send_error(503)

    server.special["/file"] = [fail, fail]
    assert get(server, tmp_path / "file").read_bytes() == DATA
    assert len(server.requests) == 3


def redirect_to(url: str) -> object:
    def handler(request: BaseHTTPRequestHandler, data: bytes) -> None:
        request.send_response(302)
        request.send_header("Location", url)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return handler


def test_a_redirect_is_followed_and_a_loop_is_not(tmp_path: Path, server: Server) -> None:
    server.special["/old"] = [redirect_to(f"{server.url}/file")]  # type: ignore[list-item]
    assert get(server, tmp_path / "file", path="/old").read_bytes() == DATA
    server.special["/loop"] = [redirect_to(f"{server.url}/loop")] * 40  # type: ignore[list-item]
    with pytest.raises(BadInput, match="302"):
        get(server, tmp_path / "other", path="/loop")


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/x"])
def test_a_redirect_out_of_the_web_is_refused(tmp_path: Path, server: Server, url: str) -> None:
    server.special["/old"] = [redirect_to(url)]  # type: ignore[list-item]
    with pytest.raises(BadInput):
        get(server, tmp_path / "file", path="/old")
    with pytest.raises(BadInput, match="not an http or https address"):
        fetch(url, tmp_path / "file", None)


def test_a_connection_that_is_refused_is_one_error(tmp_path: Path) -> None:
    with serving() as gone:
        url = gone.url
    with pytest.raises(BadInput, match="failed 2 times"):
        fetch(f"{url}/file", tmp_path / "file", None, attempts=2, wait_s=0)


def test_a_body_over_the_limit_is_refused(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "MAX_BYTES", 100)
    with pytest.raises(BadInput, match="more than 100"):
        get(server, tmp_path / "file")


def test_the_command_downloads_all_files_of_a_source_from_a_mirror(tmp_path: Path, server: Server) -> None:
    for number in range(1, 18):
        record = multiwoz22_dialogue(f"MUL{number}.json")
        server.content[f"/m/train/dialogues_{number:03d}.json"] = json.dumps([record]).encode()
    options = ["sources", "get", "multiwoz-2.2", "--out", tmp_path / "mw", "--mirror", f"{server.url}/m/"]
    result = run_command("tpbench-data", *options)
    assert result.returncode == 0, result.stderr
    assert "17 of them have no known hash" in result.stdout
    assert "Licence MIT. Please cite" in result.stdout
    again = run_command("tpbench-data", *options, "--json")
    assert {entry["fetched"] for entry in json.loads(again.stdout)} == {0}
    out = tmp_path / "r"
    built = run_command("tpbench-data", "build", f"--corpus=multiwoz={tmp_path / 'mw'}", "--out", out)
    assert built.returncode == 0, built.stderr
    facts = json.loads(run_command("tpbench-data", "info", out, "--json").stdout)["corpora"]["multiwoz"]
    assert (facts["version"], facts["source"], facts["revision"]) == ("2.2", None, None)


def test_the_command_refuses_a_download_with_a_wrong_hash(tmp_path: Path, server: Server) -> None:
    server.content["/source-data.zip"] = b"PK"
    result = run_command("tpbench-data", "sources", "get", "risawoz", "--out", tmp_path / "x", "--mirror", server.url)
    assert result.returncode == 2
    assert "instead of 8f2396b9" in result.stderr
    assert "Traceback" not in result.stderr
    unknown = run_command("tpbench-data", "sources", "get", "nothing", "--out", tmp_path / "x")
    assert unknown.returncode == 2
    assert "unknown source 'nothing'" in unknown.stderr


def test_the_list_names_licence_homepage_revision_files_and_citation() -> None:
    shown = run_command("tpbench-data", "sources").stdout
    records = {record["name"]: record for record in json.loads(run_command("tpbench-data", "sources", "--json").stdout)}
    assert {record["corpus"] for record in records.values()} == set(CORPORA)
    for name, record in records.items():
        assert name in shown
        for field in ("licence", "homepage", "citation"):
            assert record[field]
            assert record[field] in shown
        for file in record["files"]:
            assert file["url"].startswith("https://")
            assert file["sha256"] is None or len(file["sha256"]) == 64
    assert len(records["sgd"]["files"]) == 127
    assert sum(file["sha256"] is not None for file in records["sgd"]["files"]) == 96
    assert records["risawoz"]["revision"] == "1e2d3be2b25a0540519db1664a172d85ddd62b29"
    assert records["risawoz"]["licence"] == "CC-BY-NC-4.0"


@pytest.mark.parametrize(
    ("folder", "source", "version", "verified", "missing"),
    [
        ("corpora/sgd", "sgd", "train", 96, 31),
        ("corpora/sgd/sgd_train.tar.xz", "sgd", "train", 96, 31),
        ("corpora/multiwoz21", "multiwoz-2.1-dev-test", "2.1", 2, 0),
        ("corpora/risawoz", "risawoz", "original", 0, 0),
    ],
)
def test_real_folders_are_recognised_with_their_version(
    folder: str, source: str, version: str, verified: int, missing: int
) -> None:
    result = run_command("tpbench-data", "sources", "check", shared_file(folder), "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["source"], found["version"]) == (source, version)
    assert (len(found["verified"]), len(found["missing"]), found["changed"]) == (verified, missing, [])


def test_a_changed_file_is_found_by_its_hash(tmp_path: Path) -> None:
    copied = shutil.copytree(shared_file("corpora/multiwoz21"), tmp_path / "mw")
    with zipfile.ZipFile(copied / "val.json.zip") as archive:
        content = json.loads(archive.read("val.json"))
    (copied / "val.json.zip").chmod(0o644)
    copied.chmod(0o755)
    content.popitem()
    with zipfile.ZipFile(copied / "val.json.zip", "w") as archive:
        archive.writestr("val.json", json.dumps(content))
    result = run_command("tpbench-data", "sources", "check", copied)
    assert result.returncode == 1
    assert "CHANGED                   1 (val.json.zip)" in result.stdout


def test_versions_without_known_hashes_are_recognised_by_layout(tmp_path: Path) -> None:
    cases = {
        "22/dialogues_001.json": ([multiwoz22_dialogue()], "2.2"),
        "legacy/data.json": ({"A": legacy_dialogue()}, "2.1 or 2.4"),
        "sgd/dialogues_001.json": ([sgd_dialogue(1)], "train"),
        "ri/all.json": ([risawoz_dialogue()], "original"),
    }
    for name, (content, version) in cases.items():
        path = write_json(tmp_path / name, content)
        found = identify.find(path.parent)
        assert found.version == version, name
        assert not found.verified
    assert identify.find(tmp_path / "sgd").changed == ("dialogues_001.json",)


def test_nothing_recognisable_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"a": 1}', encoding="utf-8")
    result = run_command("tpbench-data", "sources", "check", tmp_path)
    assert result.returncode == 2
    assert "no corpus is recognised" in result.stderr
    assert run_command("tpbench-data", "sources", "check", tmp_path / "nowhere").returncode == 2


def test_a_build_pins_version_and_revision_where_every_file_has_its_known_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_json(tmp_path / "all_test600_new.json", [risawoz_dialogue()])
    with zipfile.ZipFile(tmp_path / "source-data.zip", "w") as archive:
        archive.write(path, "source-data/all_test600_new.json")
    path.unlink()
    digest = sha256((tmp_path / "source-data.zip").read_bytes()).hexdigest()
    source = sources()["risawoz"]
    known = replace(source, files=(replace(source.files[0], sha256=digest),))
    monkeypatch.setattr(identify, "sources", lambda: {"risawoz": known})
    files = CORPORA["risawoz"].files(tmp_path / "source-data.zip")
    list(CORPORA["risawoz"].dialogues(files))
    assert identify.pinned_source("risawoz", files) == known
    assert identify.pinned_source("sgd", files) is None
    assert catalogue.source_named("risawoz").revision == known.revision
