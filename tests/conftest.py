"""Shared fixtures: where the reference data lies, and small corpora of our own."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# A loaded machine is slow now and then; a test must not fail for that.
settings.register_profile("tpbench", deadline=None, derandomize=True)
settings.load_profile("tpbench")

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


def shared_file(name: str) -> Path:
    """A file of the reference data beside the checkout; skips the test where it is absent."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"reference data {name} is not beside this checkout")
    return path


Command = Callable[..., "subprocess.CompletedProcess[str]"]


def run_command(program: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a console script of ours as a user would, in a new process."""
    module = {"tpbench-data": "tpbench_data", "tpbench-score": "tpbench_score", "tpbench-generate": "tpbench_generate"}
    code = f"from {module[program]}.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


def hears_interrupts() -> None:
    """For a new process: a shell that starts tests in the background makes its children deaf to Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(scope="session")
def command() -> Command:
    """`run_command`, as a fixture."""
    return run_command


def sgd_dialogue(number: int, *, turns: int = 12) -> dict[str, Any]:
    """A dialogue of our own in the public SGD layout: a table is moved from 6 pm to half past 8 late on."""
    first, second = f"{number % 5 + 1} pm", f"{number % 5 + 6}:30 pm"
    texts = [
        "Please find me a quiet table in Harrow.",
        f"How about {first}?",
        f"{first.capitalize()} is fine.",
        "For how many?",
        "Four of us.",
        "Anything else?",
        "Is there parking?",
        "Yes, behind the house.",
        f"Good. Make it {second} after all.",
        f"Done, {second}.",
        "Thank you.",
        "Goodbye.",
    ][:turns]
    records = []
    for turn, text in enumerate(texts):
        if turn % 2:
            records.append({"speaker": "SYSTEM", "utterance": text, "frames": []})
            continue
        values = {"city": ["Harrow"]}
        if turn >= 2:
            values["time"] = [second] if turn >= 8 else [first]
        state = {"active_intent": "Reserve", "requested_slots": [], "slot_values": values}
        records.append({"speaker": "USER", "utterance": text, "frames": [{"service": "Tables_1", "state": state}]})
    return {"dialogue_id": f"1_{number:05d}", "services": ["Tables_1"], "turns": records}


def write_sgd_folder(folder: Path) -> Path:
    """Writes a folder in the SGD layout: three files of four dialogues each."""
    folder.mkdir(parents=True)
    for file in range(1, 4):
        dialogues = [sgd_dialogue(file * 10 + place) for place in range(4)]
        (folder / f"dialogues_{file:03d}.json").write_text(json.dumps(dialogues), encoding="utf-8")
    return folder


@pytest.fixture
def sgd_folder(tmp_path: Path) -> Path:
    """A corpus folder of our own dialogues in the SGD layout, free to be broken."""
    return write_sgd_folder(tmp_path / "corpus" / "train")


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release built from such a folder; shared, so not to be changed."""
    place = tmp_path_factory.mktemp("built")
    corpus = write_sgd_folder(place / "corpus" / "train")
    result = run_command("tpbench-data", "build", "--corpus", f"sgd={corpus}", "--n", 6, "--out", place / "tpbench")
    assert result.returncode == 0, result.stderr
    return place / "tpbench"


@pytest.fixture
def small_build(tmp_path: Path, built_once: Path) -> Path:
    """A copy of `built_once`, free to be broken."""
    return Path(shutil.copytree(built_once, tmp_path / "tpbench"))
