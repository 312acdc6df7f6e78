"""The dependency rules between the packages, and what a command may import."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

ALLOWED = {
    "tpbench_data": {"tpbench_data"},
    "tpbench_score": {"tpbench_score", "tpbench_data"},
    "tpbench_generate": {"tpbench_generate", "tpbench_data"},
}
HEAVY = {"torch", "transformers", "kvpress", "sentence_transformers", "llmlingua"}


def imported_packages(file: Path) -> set[str]:
    """Top-level names of every import statement in a file, also inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_packages_depend_in_one_direction_only(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    for file in files:
        ours = imported_packages(file) & set(ALLOWED)
        assert ours <= ALLOWED[package], f"{file} imports {ours - ALLOWED[package]}"


@pytest.mark.parametrize("package", ["tpbench_data", "tpbench_score"])
def test_data_and_score_never_import_a_model_library(package: str) -> None:
    for file in sorted((ROOT / package).rglob("*.py")):
        assert not imported_packages(file) & HEAVY, file


@pytest.mark.parametrize("package", ["tpbench_data", "tpbench_score", "tpbench_generate"])
def test_help_imports_no_heavy_library(package: str) -> None:
    code = (
        f"import sys; from {package}.cli import main; sys.argv = ['x', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "bad = {'torch', 'transformers', 'datasets', 'pyarrow', 'numpy', 'rich'} & set(sys.modules)\n"
        "sys.exit(f'imported {bad}' if bad else 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
