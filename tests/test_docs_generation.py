"""The page on generation: every command of it is one that the programs take, and its files are what they should be."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import click
import pytest
from conftest import ROOT, run_command

import tpbench_data.cli
import tpbench_generate.cli
import tpbench_score.cli
from tpbench_generate.readers import find_reader

PAGE = (ROOT / "docs" / "generation.md").read_text(encoding="utf-8")
PROGRAMS: dict[str, click.Group] = {
    "tpbench-data": tpbench_data.cli.cli,
    "tpbench-generate": tpbench_generate.cli.cli,
    "tpbench-score": tpbench_score.cli.cli,
}


def blocks() -> list[str]:
    """The indented blocks of the page."""
    found = re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", PAGE, re.MULTILINE)
    return [textwrap.dedent(block).strip("\n") for block in found]


def block(start: str) -> str:
    """The part of the page's blocks that begins with a line, up to an empty line that a command follows."""
    (found,) = [one for one in blocks() if start in one]
    text = found[found.index(start) :]
    return re.split(r"\n\n(?=ray job|mkdir|# small)", text)[0]


def commands() -> list[str]:
    """Every line of the blocks that calls one of our programs."""
    lines = "\n".join(blocks()).replace("\\\n", " ").splitlines()
    found = [line[place:] for line in lines if (place := line.find("tpbench-")) >= 0 and '"tpbench-' not in line]
    return [line for line in found if line.split()[0] in PROGRAMS]


@pytest.mark.parametrize("line", commands())
def test_a_command_of_the_page_is_one_that_the_program_takes(line: str) -> None:
    program, name, *arguments = shlex.split(line)
    group = PROGRAMS[program]
    command = group.get_command(click.Context(group), name)
    assert command is not None, name
    command.make_context(name, arguments)  # raises for an unknown option or a value of another type


def test_the_page_has_the_commands_that_people_look_for() -> None:
    text = "\n".join(commands())
    for needed in ("--shard", " merge ", " status ", " check ", " judge ", "openai:meta-llama/Llama-3.1-8B-Instruct@"):
        assert needed in text


def test_the_table_of_commands_names_them_all() -> None:
    for name in PROGRAMS["tpbench-generate"].list_commands(click.Context(PROGRAMS["tpbench-generate"])):
        assert f"`{name}" in PAGE or f", `{name}`" in PAGE


@pytest.mark.parametrize("name", ["llama.yaml", "small.yaml"])
def test_a_reader_file_of_the_page_is_one(name: str, tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    path = tmp_path / name
    path.write_text(block(f"# {name}"), encoding="utf-8")
    spec = find_reader(str(path))
    if name == "llama.yaml":
        assert spec.server is not None
        assert (spec.server.api_key_env, spec.server.concurrency) == ("NODE7_KEY", 32)
    else:
        assert (spec.model, spec.batch_size, spec.batch_tokens) == ("hf:./my-model", 8, 8000)


def test_the_ray_script_is_python_whose_workers_get_all_they_need_as_arguments() -> None:
    code = block("# shares.py")
    compile(code, "shares.py", "exec")
    work = code[code.index("def share") : code.index("ray.init")]
    assert "sys.argv" not in work  # in a worker that is the worker's own command line
    assert '"--shard", f"{index}/{of}"' in work


@pytest.mark.skipif(sys.platform == "win32", reason="Slurm runs shell scripts")
def test_the_slurm_script_makes_shares_that_the_next_line_merges(built_once: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tiny_models import MISTRAL_STYLE, tiny_model, tiny_tokenizer

    folder = tiny_model(tmp_path / "tiny", tiny_tokenizer(MISTRAL_STYLE), positions=4096)
    tools = tmp_path / "bin"
    tools.mkdir()
    for program, code in {
        "srun": 'exec "$@"\n',
        "tpbench-generate": f'exec {sys.executable} -c "from tpbench_generate.cli import main; main()" "$@"\n',
    }.items():
        (tools / program).write_text(f"#!/bin/bash\n{code}")
        (tools / program).chmod(0o755)
    script = block("#!/bin/bash").replace("paper-llama-p3", f"hf:{folder} --limit 8 --device cpu --max-new-tokens 8")
    assert "--array=0-7" in script
    script = script.replace("/8", "/2")  # two shares are enough here
    environment = {
        **os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "RELEASE": str(built_once),
        "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    for task in ("0", "1"):
        subprocess.run(
            ["bash", "-c", script],
            cwd=tmp_path,
            env={**environment, "SLURM_ARRAY_TASK_ID": task},
            check=True,
            capture_output=True,
        )
    (merge,) = [line for line in commands() if " merge runs/" in line]
    merged = subprocess.run(
        ["bash", "-c", merge.replace("{0..7}", "{0..1}")], cwd=tmp_path, env=environment, check=True
    )
    assert merged.returncode == 0
    status = run_command("tpbench-generate", "status", tmp_path / "runs" / "p3")
    assert "8 inputs answered, 0 errors" in status.stdout
