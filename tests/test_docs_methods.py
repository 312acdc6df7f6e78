"""The page on methods: its example is complete, and its commands do what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from conftest import ROOT, run_command

from tpbench_data.release.reader import Release
from tpbench_generate.kv import KV_METHODS, TESTED_PAIRS
from tpbench_generate.methods import BUILT_IN, load_method
from tpbench_generate.selectors.labeller import TESTED_VERSIONS

PAGE = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The one fenced block of the page in this language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_example_is_about_twenty_lines_and_a_usable_method(tmp_path: Path) -> None:
    code = block("python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 20
    (tmp_path / "my_file.py").write_text(code, encoding="utf-8")
    selector = load_method(f"{tmp_path / 'my_file.py'}:NewWords(min_length=5)").selector
    assert str(selector) == "new_words(min_length=5)"


def test_the_commands_of_the_page_work_as_they_stand(small_build: Path, tmp_path: Path) -> None:
    (tmp_path / "my_file.py").write_text(block("python"), encoding="utf-8")
    small_build.rename(tmp_path / "R")
    for line in block("sh").splitlines():
        program, *arguments = shlex.split(line)
        done = run_command(program, *arguments, cwd=tmp_path, env=_environment())
        assert done.returncode == 0, f"{line}\n{done.stderr}"
    for name, settings in (("R2", {"new_words"}), ("R3", {"new_words", "new_words(min_length=5)"})):
        rows = Release.open(tmp_path / name).table("current_value").to_pylist()
        assert {row["method_config"] for row in rows if row["method"] == "new_words"} == settings


def test_the_page_names_every_cache_method_and_every_method_with_a_model_and_the_tested_versions() -> None:
    for name in [*KV_METHODS, *(name for name, kind in BUILT_IN.items() if kind.needs_model)]:
        assert f"`{name}`" in PAGE
    for kvpress, transformers in TESTED_PAIRS:
        assert f"kvpress {kvpress} with transformers {transformers}" in PAGE
    assert all(version in PAGE for version in TESTED_VERSIONS)


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}
