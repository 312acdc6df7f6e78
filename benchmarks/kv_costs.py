"""Cache methods on real inputs: cost, entries kept, and the proof that with nothing removed nothing changes.

python benchmarks/kv_costs.py RELEASE --reader smollm2-135m --inputs 20 --out benchmarks
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from table import markdown, save

from tpbench_data.release.reader import Release
from tpbench_generate.kv import parse_kv
from tpbench_generate.kv.inputs import full_contexts
from tpbench_generate.plan import Selection, select_inputs
from tpbench_generate.readers import open_reader
from tpbench_generate.readers.base import Answer

METHODS = (
    "snapkv", "pyramidkv", "streamingllm", "chunkkv(chunk_length=10)", "chunkkv", "chunkkv(chunk_length=40)",
)  # fmt: skip


HEAD = ("method", "CPU s per input", "peak MB", "entries kept %", "all layers alike", "equal at ratio 1", "changed")


def measure(kv: str | None, ratio: float, release: Path, reader: str, n: int, new_tokens: int) -> dict[str, Any]:
    """Answers n inputs in this process."""
    import torch

    torch.set_num_threads(1)
    opened = Release.open(release)
    tables = full_contexts({"current_value": opened.table("current_value")}, ratio, release=str(release))
    inputs = select_inputs(tables, Selection(limit=n), release=str(release))
    method = None if kv is None else parse_kv(kv)
    tool = open_reader(reader, kv=None if method is None else (method, ratio), max_new_tokens=new_tokens, device="cpu")
    tool.load()
    encoded = [tool.encode(planned.prompt) for planned in inputs]
    begin = time.process_time()
    answers = [answer for prompt in encoded for answer in tool.generate([prompt]) if isinstance(answer, Answer)]
    spent = time.process_time() - begin
    facts = [answer.cache for answer in answers]
    return {
        "kv": kv,
        "ratio": ratio,
        "s_per_input": spent / len(answers),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "prompt_tokens": [len(prompt.ids) for prompt in encoded],
        "context_tokens": [None if one is None else one.context_tokens for one in facts],
        "entries": [None if one is None else list(one.entries) for one in facts],
        "passed_whole": sum(one is not None and one.passed_whole for one in facts),
        "texts": [answer.text for answer in answers],
    }


def main() -> None:
    """Runs each method in a process of its own and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=Path)
    parser.add_argument("--reader", default="smollm2-135m")
    parser.add_argument("--inputs", type=int, default=20)
    parser.add_argument("--ratio", type=float, default=0.3)
    parser.add_argument("--new-tokens", type=int, default=24)
    parser.add_argument("--out", type=Path, default=Path("benchmarks"))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        kv, ratio = json.loads(given.one)
        print(json.dumps(measure(kv, ratio, given.release, given.reader, given.inputs, given.new_tokens)))
        return
    plain = _run(given, None, 1.0)
    rows = [("none (full context)", f"{plain['s_per_input']:.2f}", f"{plain['peak_mb']:.0f}", "–", "–", "–", "–")]
    numbers = []
    for method in METHODS:
        kept, whole = _run(given, method, given.ratio), _run(given, method, 1.0)
        equal = sum(mine == theirs for mine, theirs in zip(whole["texts"], plain["texts"], strict=True))
        changed = sum(mine != theirs for mine, theirs in zip(kept["texts"], plain["texts"], strict=True))
        shares = [
            sum(entries) / len(entries) / tokens
            for entries, tokens in zip(kept["entries"], kept["context_tokens"], strict=True)
        ]
        layers = sum(len(set(entries)) == 1 for entries in kept["entries"])
        rows.append(
            (
                f"`{method}`",
                f"{kept['s_per_input']:.2f}",
                f"{kept['peak_mb']:.0f}",
                f"{100 * min(shares):.1f} to {100 * max(shares):.1f}",
                f"{layers} of {len(shares)}",
                f"{equal} of {len(shares)}",
                f"{changed} of {len(shares)}",
            )
        )
        numbers.append({key: kept[key] for key in kept if key != "texts"} | {"equal_at_1": equal, "changed": changed})
        print(f"{method}: {rows[-1]}", file=sys.stderr)
    tokens = plain["prompt_tokens"]
    text = (
        f"# Cost of the cache methods\n\n{len(tokens)} real SGD inputs of P2 with the full context ({min(tokens)} to"
        f" {max(tokens)} prompt tokens), reader {given.reader}, ratio {given.ratio:g}, {given.new_tokens} new tokens,"
        " one CPU thread, float32. The number of entries was measured in every layer and compared with the stated one:"
        " a difference would have stopped the run.\n\n"
        + markdown(HEAD, rows)
        + f"\n*Changed*: answers that differ from the uncompressed reader's at ratio {given.ratio:g}.\n"
    )
    save(
        given.out, "kv_costs", text, {"plain": {key: plain[key] for key in plain if key != "texts"}, "methods": numbers}
    )


def _run(given: argparse.Namespace, kv: str | None, ratio: float) -> dict[str, Any]:
    command = [sys.executable, __file__, str(given.release), "--one", json.dumps([kv, ratio]), "--reader", given.reader]
    command += ["--inputs", str(given.inputs), "--new-tokens", str(given.new_tokens)]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
