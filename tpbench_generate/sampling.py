"""The sample of prompts that `tpbench-generate check` compares settings on."""

from __future__ import annotations

from dataclasses import dataclass

from tpbench_data.errors import BadInput
from tpbench_generate.answering import encode
from tpbench_generate.comparison import Setting
from tpbench_generate.preparing import Prepared
from tpbench_generate.readers.base import Encoded
from tpbench_generate.readers.transformers_reader import TransformersReader


@dataclass(frozen=True)
class Sample:
    """Distinct prompts of a plan, in its order, the first input of each, and the ways to answer them."""

    prompts: tuple[tuple[int, ...], ...]
    input_ids: tuple[str, ...]
    settings: tuple[Setting, ...]


def settings_for(prepared: Prepared, attention: str) -> Sample:
    """Serial, batched and sharing, first with ``attention``, then with the other one.

    Raises:
        BadInput: The reader is no transformers model, or no prompt can be encoded.
    """
    if type(prepared.reader) is not TransformersReader:
        raise BadInput(
            f"{prepared.row['reader']} is no model on this machine", field="--reader", remedy="Check an hf: reader"
        )
    plan = prepared.plan
    names = dict(
        zip(plan.table["prompt_hash"].to_pylist()[::-1], plan.table["input_id"].to_pylist()[::-1], strict=True)
    )
    encoded = {key: encode(prepared.reader, messages) for key, messages in plan.prompts.items()}
    batches = [[key for key in batch if isinstance(encoded[key], Encoded)] for batch in plan.batches]
    order = [key for batch in batches for key in batch]
    if not order:
        raise BadInput("no prompt of the sample can be encoded")
    places = {key: place for place, key in enumerate(order)}
    together = tuple(tuple(places[key] for key in batch) for batch in batches if batch)
    alone = tuple((place,) for place in range(len(order)))
    settings = [
        setting
        for kind in dict.fromkeys((attention, "sdpa", "eager"))
        for setting in (
            Setting(f"serial, {kind}", alone, kind),
            Setting(f"batched, {kind}", together, kind),
            Setting(f"batched, {kind}, shared beginnings", together, kind, share=True),
        )
    ]
    prompts = tuple(one.ids for key in order if isinstance(one := encoded[key], Encoded))
    return Sample(prompts, tuple(names[key] for key in order), tuple(settings))
