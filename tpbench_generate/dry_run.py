"""What a run would come to, before it is started."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tpbench_generate.answering import answer_batch, encode
from tpbench_generate.plan import Plan
from tpbench_generate.readers.base import Encoded, Reader


@dataclass(frozen=True)
class Estimate:
    """A plan in numbers.

    Attributes:
        inputs: Planned inputs.
        prompts: Distinct prompts.
        batches: Batches.
        prompt_tokens: Tokens of all distinct prompts; None where a server counts them.
        padded_tokens: Likewise with the padding of the batches.
        longest: Tokens of the longest prompt.
        new_tokens: Most new tokens of all answers together.
        truncated: Distinct prompts that are cut.
        unusable: Distinct prompts that cannot be encoded.
        probed: Prompts of the batch that was timed, None = nothing was.
        seconds: Time for the whole plan judged by that batch, loading the model not included.
    """

    inputs: int
    prompts: int
    batches: int
    prompt_tokens: int | None
    padded_tokens: int | None
    longest: int | None
    new_tokens: int
    truncated: int
    unusable: int
    probed: int | None = None
    seconds: float | None = None


def estimate(plan: Plan, reader: Reader, *, probe: bool) -> Estimate:
    """Counts a plan, and times its middle batch if ``probe``. Raises BadInput if the reader cannot be loaded."""
    tokens = dict(zip(plan.table["prompt_hash"].to_pylist(), plan.table["prompt_tokens"].to_pylist(), strict=True))
    encoded = {key: encode(reader, messages) for key, messages in plan.prompts.items()}
    known = [count for count in tokens.values() if count is not None]
    new = reader.settings.max_new_tokens
    probed, seconds = None, None
    if probe:
        batch = plan.batches[len(plan.batches) // 2]  # batches stand in order of length
        reader.load()
        begin = time.monotonic()
        answer_batch(reader, [plan.prompts[key] for key in batch])
        taken = time.monotonic() - begin
        probed = len(batch)
        work = [sum((tokens[key] or 0) + new for key in one) for one in plan.batches]
        seconds = taken * sum(work) / work[len(plan.batches) // 2]
    return Estimate(
        inputs=plan.table.num_rows,
        prompts=len(plan.prompts),
        batches=len(plan.batches),
        prompt_tokens=sum(known) if known else None,
        padded_tokens=sum(len(b) * max(tokens[key] or 0 for key in b) for b in plan.batches) if known else None,
        longest=max(known) if known else None,
        new_tokens=len(plan.prompts) * new,
        truncated=sum(isinstance(one, Encoded) and one.truncated is True for one in encoded.values()),
        unusable=sum(not isinstance(one, Encoded) for one in encoded.values()),
        probed=probed,
        seconds=seconds,
    )
