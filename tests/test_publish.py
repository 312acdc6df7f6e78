"""Publishing to and pulling from a Hub with the real client, when all goes well and when it does not."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import run_command
from full_release import full_once  # noqa: F401  (fixture)
from loopback_hub import READER, WRITER, Hub, loopback_hub

from tpbench_data.errors import BadInput, BadRelease
from tpbench_data.freeze import Results, freeze
from tpbench_data.hub.publish import Published, Publisher
from tpbench_data.hub.pull import Pulled, pull
from tpbench_data.hub.remote import ATTEMPTS, HubError, Moved, Remote
from tpbench_data.release.reader import Release

REPO = "lab/tpbench"
COMMIT = r"^/api/datasets/lab/tpbench/commit/"
TAG = r"^/api/datasets/lab/tpbench/tag/"
LARGE = r"^/large/"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """An empty Hub, with the token that may write in the environment, and no storage service beside it."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    monkeypatch.setenv("HF_TOKEN", WRITER)
    with loopback_hub() as server:
        yield server


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between tries, which are written down and not waited for."""
    found: list[float] = []
    monkeypatch.setattr("time.sleep", found.append)
    return found


def publish(folder: Path, hub: Hub, **options: Any) -> Published:
    return Publisher(folder, Remote(REPO, hub.url), **options).publish()


def pulled(hub: Hub, out: Path, revision: str = "v0.3.0", **options: Any) -> Pulled:
    return pull(Remote(REPO, hub.url), revision, out, **options)


def content(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def sent(hub: Hub, method: str, path: str = "") -> list[str]:
    return [request for request in hub.requests if request.startswith(f"{method} ") and re.search(path, request)]


@pytest.fixture
def next_version(full_once: Path, tmp_path: Path) -> Path:
    """The same release under another version."""
    table = next(iter(sorted((full_once / "tables").iterdir())))
    freeze(Release.open(full_once), Results(tables=(table,)), "0.4.0", tmp_path / "next")
    return tmp_path / "next"


def test_what_is_published_comes_back_with_the_same_digest_and_bytes(
    full_once: Path,
    hub: Hub,
    tmp_path: Path,
) -> None:
    result = publish(full_once, hub)
    requests = {"publish": len(hub.requests)}
    repository = hub.repositories[REPO]
    assert repository.tags == {"v0.3.0": result.commit}
    assert len(repository.commits) == 2  # the empty repository and one commit
    hub.requests.clear()
    again = publish(full_once, hub)
    requests["publish again"] = len(hub.requests)
    assert again.plan.done
    assert again.commit == result.commit
    assert sent(hub, "POST") == sent(hub, "PUT") == []
    hub.requests.clear()
    back = pulled(hub, tmp_path / "back")
    requests["pull"] = len(hub.requests)
    assert back.digest == result.digest == Release.open(full_once).digest
    assert content(tmp_path / "back") == content(full_once)
    print(f"{len(content(full_once))} files; requests: {requests}")


def test_the_command_line_does_the_same_and_shows_no_token(
    full_once: Path,
    hub: Hub,
    tmp_path: Path,
) -> None:
    environment = os.environ | {"HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(tmp_path / "home")}
    first = run_command("tpbench-data", "publish", full_once, "--repo-id", REPO, "--private", env=environment)
    assert first.returncode == 0, first.stderr
    assert f"published: tag v0.3.0, commit {hub.repositories[REPO].head}" in first.stdout
    assert hub.repositories[REPO].private
    second = run_command(
        "tpbench-data", "pull", REPO, "--revision", "v0.3.0", "--out", tmp_path / "back", "--json", env=environment
    )
    assert second.returncode == 0, second.stderr
    assert Release.open(full_once).digest in second.stdout
    for result in (first, second):
        assert WRITER not in result.stdout + result.stderr
        assert result.stderr == ""
    assert all(WRITER.encode() not in data for data in content(tmp_path / "back").values())


def test_a_dry_run_prints_the_plan_and_writes_nothing(full_once: Path, hub: Hub, tmp_path: Path) -> None:
    environment = os.environ | {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")}
    result = run_command("tpbench-data", "publish", full_once, "--repo-id", REPO, "--dry-run", env=environment)
    assert result.returncode == 0, result.stderr
    assert "create the repository\nupload LICENSES/sgd.txt\n" in result.stdout
    assert result.stdout.endswith("set tag v0.3.0\n")
    assert sent(hub, "POST") == sent(hub, "PUT") == []
    assert hub.repositories == {}


def test_a_broken_release_is_not_published(full_once: Path, hub: Hub, tmp_path: Path) -> None:
    broken = Path(shutil.copytree(full_once, tmp_path / "broken"))
    (broken / "README.md").write_text("changed", encoding="utf-8")
    with pytest.raises(BadRelease, match=r"README\.md"):
        publish(broken, hub)
    assert hub.requests == []


def test_401_without_a_token_is_one_error_and_no_second_try(
    full_once: Path,
    hub: Hub,
    monkeypatch: pytest.MonkeyPatch,
    waits: list[float],
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_nobody")
    with pytest.raises(HubError, match=r"401.*Log in with `hf auth login`") as problem:
        publish(full_once, hub)
    assert "hf_nobody" not in str(problem.value)
    assert (waits, len(sent(hub, "POST", "repos/create")), hub.repositories) == ([], 1, {})


def test_403_with_a_token_that_may_only_read(
    full_once: Path,
    hub: Hub,
    monkeypatch: pytest.MonkeyPatch,
    waits: list[float],
) -> None:
    monkeypatch.setenv("HF_TOKEN", READER)
    with pytest.raises(HubError, match=f"403.*access to {REPO}, to publish write access"):
        publish(full_once, hub)
    assert (waits, len(sent(hub, "POST", "repos/create")), hub.repositories) == ([], 1, {})


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "repos/create"), ("GET", "/refs$"), ("POST", COMMIT), ("PUT", LARGE), ("POST", TAG)],
)
def test_429_then_success(full_once: Path, hub: Hub, waits: list[float], method: str, path: str) -> None:
    if "refs" in path:
        publish(full_once, hub)
        hub.requests.clear()
    hub.fail(method, path, "status", status=429, headers={"Retry-After": "7"})
    publish(full_once, hub)
    assert hub.repositories[REPO].tags
    assert max(waits) >= 7  # as long as the Hub asked for
    assert len(hub.repositories[REPO].commits) == 2


@pytest.mark.parametrize("path", ["repos/create", COMMIT, TAG])
def test_5xx_is_tried_again_and_in_the_end_is_one_error(
    full_once: Path,
    hub: Hub,
    waits: list[float],
    path: str,
) -> None:
    hub.fail("POST", path, "status", status=503, times=2)
    publish(full_once, hub)
    assert len(hub.repositories[REPO].commits) == 2
    assert waits[:2] == [1, 2]
    hub.repositories.clear()
    hub.requests.clear()
    hub.fail("POST", path, "status", status=500, times=99)
    with pytest.raises(HubError, match=r"500.*again later"):
        publish(full_once, hub)
    assert len(sent(hub, "POST", path.removeprefix("^"))) in (3, ATTEMPTS)
    assert REPO not in hub.repositories or not hub.repositories[REPO].tags


@pytest.mark.parametrize(("method", "path"), [("GET", "/tree/"), ("POST", COMMIT), ("PUT", LARGE), ("POST", TAG)])
def test_a_dropped_connection(full_once: Path, hub: Hub, waits: list[float], method: str, path: str) -> None:
    hub.fail(method, path, "drop")
    result = publish(full_once, hub)
    assert hub.repositories[REPO].tags == {"v0.3.0": result.commit}
    assert len(hub.repositories[REPO].commits) == 2


def test_a_commit_whose_answer_was_lost_is_not_written_twice(
    full_once: Path,
    hub: Hub,
    waits: list[float],
) -> None:
    hub.fail("COMMITTED", "", "drop")
    result = publish(full_once, hub)
    repository = hub.repositories[REPO]
    assert len(repository.commits) == 2
    assert repository.tags == {"v0.3.0": result.commit}


def test_an_interrupted_upload_goes_on_where_it_stopped(
    full_once: Path,
    hub: Hub,
    waits: list[float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = len(list((full_once / "data").rglob("*.parquet")))
    hub.fail("PUT", LARGE, "status", status=403, times=99, after=3)
    with pytest.raises(HubError, match="403"):
        publish(full_once, hub)
    assert len(hub.large) == 3
    assert hub.repositories[REPO].tags == {}
    hub.faults.clear()
    hub.requests.clear()
    publish(full_once, hub)
    assert len(sent(hub, "PUT", "/large/")) == tables - 3
    assert hub.repositories[REPO].tags


def test_409_a_tag_that_is_there_is_never_moved(
    full_once: Path,
    next_version: Path,
    hub: Hub,
    waits: list[float],
) -> None:
    first = publish(full_once, hub)
    hub.requests.clear()
    with pytest.raises(BadInput, match=r"tag v0\.3\.0 .* holds another release .* never moved"):
        publish(next_version, hub, tag="v0.3.0")
    assert sent(hub, "POST") == sent(hub, "PUT") == []
    assert hub.repositories[REPO].tags == {"v0.3.0": first.commit}
    assert waits == []


def test_409_a_tag_set_by_another_run_at_the_same_time(full_once: Path, hub: Hub, waits: list[float]) -> None:
    first = publish(full_once, hub)
    repository = hub.repositories[REPO]
    publisher = Publisher(full_once, Remote(REPO, hub.url))
    # This run looked before the other one had set the tag.
    repository.tags.clear()
    plan = publisher.plan()
    assert not plan.done
    repository.tags["v0.3.0"] = first.commit
    publisher.plan = lambda: plan  # type: ignore[method-assign]
    assert publisher.publish().commit == first.commit
    repository.tags["v0.3.0"] = next(iter(repository.commits))
    with pytest.raises(BadInput, match="never moved"):
        publisher.publish()


def test_409_while_someone_else_writes(full_once: Path, hub: Hub, waits: list[float]) -> None:
    hub.fail("POST", COMMIT, "status", status=409)
    with pytest.raises(Moved, match=r"409.*changed at the same time"):
        publish(full_once, hub)
    assert hub.repositories[REPO].tags == {}


def test_a_new_version_uploads_only_what_changed_and_removes_what_is_gone(
    full_once: Path,
    next_version: Path,
    hub: Hub,
) -> None:
    publish(full_once, hub)
    hub.repositories[REPO].commits[hub.repositories[REPO].head]["old.bin"] = next(
        blob for blob in hub.repositories[REPO].commits[hub.repositories[REPO].head].values() if blob.large
    )
    hub.requests.clear()
    second = publish(next_version, hub)
    assert set(second.plan.upload) == {"README.md", "croissant.json", "manifest.json"}
    assert second.plan.remove == ("old.bin",)
    assert sent(hub, "PUT") == []
    assert set(hub.repositories[REPO].tags) == {"v0.3.0", "v0.4.0"}


def test_other_bytes_on_the_other_side_are_found_before_the_tag(
    full_once: Path,
    hub: Hub,
    waits: list[float],
) -> None:
    hub.spoil = "data/runs/test-00000-of-00001.parquet"
    with pytest.raises(HubError, match=r"data/runs/.* has other bytes"):
        publish(full_once, hub)
    assert hub.repositories[REPO].tags == {}


@pytest.mark.parametrize("action", ["half", "drop"])
def test_a_download_that_breaks_off_goes_on(
    full_once: Path,
    hub: Hub,
    tmp_path: Path,
    waits: list[float],
    action: str,
) -> None:
    publish(full_once, hub)
    hub.fail("GET", r"resolve/.*/data/outputs/", action, times=2)
    back = pulled(hub, tmp_path / "back")
    assert back.digest == Release.open(full_once).digest
    assert content(tmp_path / "back") == content(full_once)
    assert waits


def test_an_interrupted_pull_goes_on_with_the_files_it_has(
    full_once: Path,
    hub: Hub,
    tmp_path: Path,
    waits: list[float],
) -> None:
    publish(full_once, hub)
    hub.fail("HEAD", r"resolve/.*/data/runs/", "status", status=500, times=99)
    with pytest.raises(HubError, match="data/runs"):
        pulled(hub, tmp_path / "back")
    assert not (tmp_path / "back").exists()
    hub.faults.clear()
    hub.requests.clear()
    back = pulled(hub, tmp_path / "back")
    fetched = sent(hub, "GET", "/resolve/")
    assert content(tmp_path / "back") == content(full_once)
    assert len(fetched) < len(content(full_once)) - 5
    assert back.downloaded < len(content(full_once)) - 5
    assert [path.name for path in tmp_path.iterdir()] == ["back"]


def test_wrong_bytes_from_the_hub_are_never_taken_for_the_release(
    full_once: Path,
    hub: Hub,
    tmp_path: Path,
    waits: list[float],
) -> None:
    publish(full_once, hub)
    hub.fail("GET", r"resolve/.*/data/outputs/", "wrong", times=99)
    with pytest.raises(HubError, match="arrives with other bytes"):
        pulled(hub, tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_a_pull_is_pinned_to_what_was_asked_for(
    full_once: Path,
    next_version: Path,
    hub: Hub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = publish(full_once, hub)
    publish(next_version, hub)
    assert pulled(hub, tmp_path / "old").digest == first.digest
    assert pulled(hub, tmp_path / "by_commit", revision=first.commit).digest == first.digest
    assert pulled(hub, tmp_path / "new", revision="main").digest == Release.open(next_version).digest
    with pytest.raises(BadInput, match="has no revision 'v9'"):
        pulled(hub, tmp_path / "x", revision="v9")
    with pytest.raises(BadInput, match=r"has digest .*, not 0000"):
        pulled(hub, tmp_path / "x", digest="0000")
    with pytest.raises(BadInput, match="already exists"):
        pulled(hub, tmp_path / "old")
    hub.repositories[REPO].private = True
    monkeypatch.setenv("HF_TOKEN", "hf_nobody")
    with pytest.raises((BadInput, HubError), match="hf auth login"):
        pulled(hub, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_hostile_repository_is_refused_before_it_is_downloaded(
    full_once: Path,
    hub: Hub,
    tmp_path: Path,
    waits: list[float],
) -> None:
    publish(full_once, hub)
    repository = hub.repositories[REPO]
    files = repository.commits[repository.head]
    honest = files["manifest.json"].data
    files["manifest.json"].data = b" " * (9 * 2**20)
    hub.requests.clear()
    with pytest.raises(BadInput, match=r"manifest\.json .* more than"):
        pulled(hub, tmp_path / "x")
    assert sent(hub, "GET", "/resolve/") == []
    files["manifest.json"].data = honest.replace(b'"path": "README.md"', b'"path": "../x.md"')
    with pytest.raises(BadInput, match="not a plain relative path"):
        pulled(hub, tmp_path / "y")
    files["manifest.json"].data = honest
    files["data/runs/test-00000-of-00001.parquet"].data = b"x" * (3 * 2**20)
    with pytest.raises(BadInput, match=r"data/runs/.* has 3145728 bytes instead of"):
        pulled(hub, tmp_path / "z")
    assert not {"x", "y", "z"} & {path.name for path in tmp_path.iterdir()}


def test_404_from_a_hub_that_lacks_what_was_just_there(full_once: Path, hub: Hub, waits: list[float]) -> None:
    for method, path in (("POST", "repos/create"), ("GET", "/tree/"), ("POST", TAG)):
        hub.repositories.clear()
        hub.fail(method, path, "status", status=404)
        with pytest.raises(HubError, match=r"404.*Check the names"):
            publish(full_once, hub)
        assert REPO not in hub.repositories or not hub.repositories[REPO].tags
    assert waits == []


@pytest.mark.parametrize("repo_id", ["a/b/c", "lab/..", "../lab", "lab/x y", ""])
def test_a_repository_id_that_is_none(full_once: Path, hub: Hub, repo_id: str) -> None:
    with pytest.raises(BadInput, match="not a repository id"):
        Remote(repo_id, hub.url)
    assert hub.requests == []


def test_a_plain_folder_keeps_every_version_as_it_was(
    full_once: Path,
    next_version: Path,
    tmp_path: Path,
) -> None:
    shelf = tmp_path / "shelf"

    def run(*arguments: object) -> tuple[int, str]:
        result = run_command("tpbench-data", *arguments)
        return result.returncode, result.stdout + result.stderr

    assert run("publish", full_once, "--to", shelf, "--dry-run") == (0, f"{shelf / 'v0.3.0'}: would be written\n")
    assert not shelf.exists()
    assert run("publish", full_once, "--to", shelf) == (0, f"{shelf / 'v0.3.0'}: published\n")
    assert run("publish", full_once, "--to", shelf) == (0, f"{shelf / 'v0.3.0'}: is there already\n")
    code, text = run("publish", next_version, "--to", shelf, "--tag", "v0.3.0")
    assert (code, "never changed" in text) == (2, True)
    assert run("publish", next_version, "--to", shelf)[0] == 0
    assert content(shelf / "v0.3.0") == content(full_once)
    assert run("pull", shelf, "--revision", "v0.3.0", "--out", tmp_path / "back")[0] == 0
    assert content(tmp_path / "back") == content(full_once)
    code, text = run("pull", shelf, "--out", tmp_path / "other")
    assert (code, "Give --revision: v0.3.0, v0.4.0" in text) == (2, True)
    code, text = run("publish", full_once)
    assert (code, "either --repo-id or --to" in text) == (2, True)
