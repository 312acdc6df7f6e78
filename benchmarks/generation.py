"""What deduplication, batching and shared beginnings each bring, against one prompt at a time.

    python benchmarks/generation.py [--corpus PATH] [--answers 300] [--new-tokens 48] [--reader smollm2-135m]

The workload: three probes about the same dialogues with four methods, protocol `matched`. All steps run in one
process, on the same inputs, in float32; answers are compared with those of the plain loop, and each that differs is
listed with the gap between the two logits.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from tpbench_data.build import build
from tpbench_data.build_plan import BuildPlan
from tpbench_data.release.reader import Release
from tpbench_data.selectors import SELECTORS
from tpbench_generate.answering import encoder_of
from tpbench_generate.comparison import Prompt, answer_all, differences
from tpbench_generate.plan import Batching, PlannedInput, make_plan
from tpbench_generate.readers import open_reader
from tpbench_generate.readers.base import Encoded
from tpbench_generate.readers.transformers_reader import TransformersReader

ROOT = Path(__file__).resolve().parent.parent
PROBES = ("initial_goal", "current_value", "joint_recovery")
METHODS = ("full_context", "recency", "first_turns", "uniform_stride")


def workload(corpus: Path, folder: Path, answers: int) -> list[PlannedInput]:
    """Inputs of the examples that all three probes ask about, the first ``answers`` of them."""
    methods = tuple(SELECTORS[name]() for name in METHODS)
    build(BuildPlan({"sgd": corpus}, n=2000, seeds=(42,), selectors=methods, protocols=("matched",)), folder)
    release = Release.open(folder)
    rows: dict[str, list[dict[str, Any]]] = {}
    for probe in PROBES:
        for row in release.table(probe).to_pylist():
            rows.setdefault(row["example_id"], []).append({**row, "probe": probe})
    complete = [row for found in rows.values() if len({row["probe"] for row in found}) == len(PROBES) for row in found]
    return [PlannedInput.from_row(row["probe"], row) for row in complete[:answers]]


def opened(name: str, new_tokens: int, *, share: bool) -> TransformersReader:
    reader = open_reader(name, max_new_tokens=new_tokens, device="cpu", dtype="float32", share_beginnings=share)
    if not isinstance(reader, TransformersReader):
        raise SystemExit("this benchmark needs a transformers reader")
    reader.load()
    return reader


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--corpus", type=Path, default=ROOT.parent / "shared" / "corpora" / "sgd" / "sgd_train.tar.xz")
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--new-tokens", type=int, default=48)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--reader", default="smollm2-135m")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        inputs = workload(chosen.corpus, Path(folder) / "release", chosen.answers)
    plain = opened(chosen.reader, chosen.new_tokens, share=False)
    plans = {
        share: make_plan(inputs, encoder_of(plain), Batching(chosen.batch_size, share=share)) for share in (False, True)
    }
    keys = list(plans[False].prompts)
    place = {key: number for number, key in enumerate(keys)}
    encoded = [plain.encode(messages) for messages in plans[False].prompts.values()]
    prompts: list[Prompt] = [one.ids for one in encoded if isinstance(one, Encoded)]
    batches = {share: [[place[key] for key in batch] for batch in plan.batches] for share, plan in plans.items()}
    plain.new_tokens(prompts[:1])  # the first call of a process is slow
    serial, answers, repeated = serial_loop(
        plain, prompts, [place[key] for key in plans[False].table["prompt_hash"].to_pylist()]
    )
    print(f"{len(inputs)} inputs, {len(prompts)} distinct prompts, {sum(map(len, prompts))} tokens, float32")
    print(f"{'step':<34} {'seconds':>8} {'answers/s':>10} {'of plain':>9} {'of before':>10} {'different':>10}")
    before = serial

    def line(name: str, seconds: float, different: int) -> None:
        nonlocal before
        rate, total, step = len(inputs) / seconds, serial / seconds, before / seconds
        print(f"{name:<34} {seconds:>8.1f} {rate:>10.2f} {total:>8.2f}x {step:>9.2f}x {different:>10}", flush=True)
        before = seconds

    line("plain loop", serial, 0)
    line("+ equal prompts once", serial - repeated, 0)
    details = []
    for share, name in ((False, "+ batches by length"), (True, "+ shared beginnings read once")):
        reader = opened(chosen.reader, chosen.new_tokens, share=True) if share else plain
        begin = time.perf_counter()
        found = answer_all(reader, prompts, batches[share])
        seconds = time.perf_counter() - begin
        different = differences(plain, prompts, answers, found)
        line(name, seconds, len(different))
        details += [f"{name}: prompt {keys[d.prompt]}, new token {d.token}, logit gap {d.gap:.2e}" for d in different]
    print("\n".join(details))


def serial_loop(
    reader: TransformersReader, prompts: list[Prompt], order: list[int]
) -> tuple[float, dict[int, list[int]], float]:
    """Answers every input alone; seconds, answers by prompt, and the seconds spent on prompts answered before."""
    answers: dict[int, list[int]] = {}
    total = repeated = 0.0
    for place in order:
        begin = time.perf_counter()
        new = answer_all(reader, prompts, [(place,)])
        seconds = time.perf_counter() - begin
        total += seconds
        repeated += seconds if place in answers else 0.0
        answers |= new
    return total, answers, repeated


if __name__ == "__main__":
    main()
