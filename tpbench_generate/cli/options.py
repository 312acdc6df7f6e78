"""Options that several commands share: which inputs, and which reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from tpbench_data.names import INPUT_PROBES
from tpbench_generate.demonstrations import DEMONSTRATIONS
from tpbench_generate.readers.base import DEFAULT_MAX_NEW_TOKENS, DTYPES

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
READER_OPTIONS = ("max_new_tokens", "max_input_tokens", "truncation_side", "dtype", "attention", "device")
"""The options that are fields of `ReaderOptions`."""

FILTERS = ("probes", "ratios", "seeds", "corpora", "protocols")
"""The options that may be repeated or given as comma lists; `methods` too, whose commas may stand in brackets."""

release_option = click.option(
    "--release",
    type=click.Path(path_type=Path),
    help="Release folder (default: the release that ships with tpbench).",
)

_INPUTS = (
    release_option,
    click.option(
        "--probe", "probes", multiple=True, help=f"Only these of {', '.join(INPUT_PROBES)} (default: the first three)."
    ),
    click.option(
        "--method",
        "methods",
        multiple=True,
        help="Only inputs of these methods: name, or name(setting=value) for one of several settings.",
    ),
    click.option(
        "--ratio",
        "ratios",
        multiple=True,
        help="Only inputs of these retained fractions. With --kv: the retained fraction of the cache.",
    ),
    click.option("--seed", "seeds", multiple=True, help="Only inputs in these sample seeds."),
    click.option("--corpus", "corpora", multiple=True, help="Only inputs of these corpora."),
    click.option("--protocol", "protocols", multiple=True, help="Only inputs of this protocol: paper or matched."),
    click.option(
        "--limit", type=click.IntRange(min=1), help="At most N inputs: the first examples, each with all its methods."
    ),
)
_READER = (
    click.option("--reader", required=True, help="Who answers; see `tpbench-generate readers`."),
    click.option(
        "--batch-size", type=click.IntRange(min=1), help="Most prompts of one batch (default: the reader's, 8)."
    ),
    click.option(
        "--batch-tokens",
        type=click.IntRange(min=1),
        help="Most tokens of one batch, padding included (default: the reader's, no limit).",
    ),
    click.option(
        "--max-new-tokens",
        type=click.IntRange(min=1),
        help=f"Most tokens of an answer (default: the reader's, {DEFAULT_MAX_NEW_TOKENS}).",
    ),
    click.option(
        "--max-input-tokens",
        type=click.IntRange(min=2),
        help="Cut longer prompts to this many tokens (default: the model's limit less the new tokens).",
    ),
    click.option(
        "--truncation-side",
        type=click.Choice(["left", "right"]),
        help="Which end of a too long prompt is cut (default: left).",
    ),
    click.option(
        "--dtype",
        type=click.Choice(DTYPES),
        help="Number format (default: auto, which is float32 on a CPU and bfloat16 on a GPU).",
    ),
    click.option("--attention", help="Attention: sdpa (default), eager, flash_attention_2."),
    click.option("--device", help="auto (default), cpu, or a GPU such as cuda:0."),
    click.option(
        "--demonstration",
        type=click.Choice(list(DEMONSTRATIONS)),
        default=None,
        help="Put a worked example before every prompt, for readers that do not follow the instruction alone.",
    ),
)


def input_options(command: Decorated) -> Decorated:
    """Adds the options that choose inputs of a release."""
    return _with(command, _INPUTS)


def reader_options(command: Decorated) -> Decorated:
    """Adds the options that choose a reader and its batches."""
    return _with(command, _READER)


def _with(command: Decorated, options: tuple[Callable[[Any], Any], ...]) -> Decorated:
    for option in reversed(options):
        command = option(command)
    return command


def split_options(values: dict[str, Any]) -> dict[str, Any]:
    """The options of a command as fields of `preparing.Request`."""
    from tpbench_data.selectors.settings import split_methods

    own = {name: value for name, value in values.items() if name not in READER_OPTIONS}
    own |= {name: listed(own[name]) for name in FILTERS}
    own["methods"] = tuple(dict.fromkeys(part for value in own["methods"] for part in split_methods(value)))
    return own | {"options": {name: values[name] for name in READER_OPTIONS if name in values}}


def listed(values: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of repeated options and comma lists, each once, in the order given."""
    parts = [part.strip() for value in values for part in value.split(",")]
    return tuple(dict.fromkeys(part for part in parts if part))
