"""Every hostile input of the table in SECURITY.md ends quickly, in bounded memory, in one of our answers."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT


def _benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hostile_inputs", ROOT / "benchmarks" / "hostile_inputs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["hostile_inputs"] = module
    spec.loader.exec_module(module)
    return module


HOSTILE = _benchmark()
MOST_SECONDS = 20
"""Of CPU time; on the machine of the table no input takes five."""
MOST_MEBIBYTES = 1024


@pytest.mark.parametrize("case", HOSTILE.CASES, ids=lambda case: case.name)
def test_a_hostile_input_ends_in_an_answer(case: object, tmp_path: Path) -> None:
    found = HOSTILE.measure(case, tmp_path)
    print(f"{found.seconds:.1f} s, {found.mebibytes:.0f} MiB: {found.said}")
    assert "Traceback" not in found.everything
    assert found.exit in ((0,) if case.accepted else (1, 2)), found.everything  # type: ignore[attr-defined]
    assert found.seconds < MOST_SECONDS
    assert found.mebibytes < MOST_MEBIBYTES
    assert not (tmp_path / "out").exists()


def test_the_table_in_the_security_page_lists_every_input() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for case in HOSTILE.CASES:
        assert f"| {case.name} |" in page
