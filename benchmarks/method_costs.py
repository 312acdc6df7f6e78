"""Time and memory of every turn selector on real dialogues, one fresh process per method, one CPU thread.

    python benchmarks/method_costs.py RELEASE --labeller FOLDER --out benchmarks

RELEASE holds current_value inputs, e.g. built with `tpbench-data build --corpus sgd=... --methods full_context
--probes current_value`. FOLDER is a LLMLingua-2 model; without it that method is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from table import markdown, save, share

from tpbench_data.matching import value_in_text
from tpbench_data.release.reader import Release
from tpbench_data.rendering import count_words, render
from tpbench_generate.cases import cases_of
from tpbench_generate.methods import BUILT_IN, load_method


def methods(labeller: Path | None) -> list[str]:
    """Every method as typed; LLMLingua-2 in both modes, with the model given."""
    names = [name for name in BUILT_IN if name != "llmlingua2"]
    if labeller is not None:
        for mode in ("per_turn", "per_dialogue"):
            names.append(f"llmlingua2(model=hf:{labeller}, mode={mode}, token_counts=words)")
    return names


def measure(method: str, release: Path, n: int, ratio: float) -> dict[str, Any]:
    """CPU seconds, peak memory and what was kept, in this process."""
    cases = cases_of(Release.open(release), ["current_value"], protocols=["paper"])
    chosen = list({case.row["dialogue_id"]: case for case in cases}.values())[:n]
    begin = time.process_time()
    selector = load_method(method).selector
    at = None if selector.size == "adaptive" else ratio
    selector.select(chosen[0].item, at)
    loaded = time.process_time()
    found = [selector.select(case.item, at) for case in chosen]
    end = time.process_time()
    full = [count_words(render(range(c.item.n_turns), c.item.speakers, c.item.texts, "marked")) for c in chosen]
    return {
        "method": selector.name,
        "settings": str(selector.pinned()),
        "dialogues": len(chosen),
        "start_s": loaded - begin,
        "ms_per_dialogue": 1000 * (end - loaded) / len(chosen),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "turns": sum(len(one.kept) / one.n_turns for one in found) / len(found),
        "words": sum(count_words(one.context) / words for one, words in zip(found, full, strict=True)) / len(found),
        "retained": sum(
            value_in_text(case.row["reference_value"], one.context, case.row["corpus"])
            for one, case in zip(found, chosen, strict=True)
        ),
    }


def main() -> None:
    """Measures each method in a process of its own and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=Path)
    parser.add_argument("--dialogues", type=int, default=200)
    parser.add_argument("--ratio", type=float, default=0.3)
    parser.add_argument("--labeller", type=Path)
    parser.add_argument("--out", type=Path, default=Path("benchmarks"))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one, given.release, given.dialogues, given.ratio)))
        return
    found = []
    for method in methods(given.labeller):
        command = [sys.executable, __file__, str(given.release), "--one", method]
        command += ["--dialogues", str(given.dialogues), "--ratio", str(given.ratio)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        found.append(json.loads(done.stdout.splitlines()[-1]))
        print(f"{method}: {found[-1]['ms_per_dialogue']:.2f} ms", file=sys.stderr)
    rows = [
        (
            f"`{one['method']}`" + (f" ({one['settings'].partition('mode=')[2].partition(',')[0] or 'per_turn'})"
                                    if one["method"] == "llmlingua2" else ""),
            f"{one['ms_per_dialogue']:.2f}",
            f"{one['start_s']:.1f}",
            f"{one['peak_mb']:.0f}",
            share(one["turns"], 1),
            share(one["words"], 1),
            share(one["retained"], one["dialogues"]),
        )
        for one in found
    ]  # fmt: skip
    head = (
        "method",
        "CPU ms per dialogue",
        "CPU s to start",
        "peak MB",
        "turns kept %",
        "words kept %",
        "value kept %",
    )
    text = (
        f"# Cost of the turn selectors\n\n{found[0]['dialogues']} real SGD dialogues, ratio {given.ratio:g}, protocol"
        " `paper`, one process per method, one CPU thread, models on the CPU. *Value kept* is the share of P2 questions"
        " whose reference value stands in the context.\n\n" + markdown(head, rows) + "\nLLMLingua-2 was run with a tiny"
        " classifier of random weights (the published model was not at hand): its cost is that of the library, not of"
        " the model, and what it keeps means nothing.\n"
    )
    save(given.out, "method_costs", text, {"machine": platform.machine(), "ratio": given.ratio, "methods": found})


if __name__ == "__main__":
    main()
