"""Reading once what several prompts of a batch have in common at their beginning.

Each group of prompts that begin alike is one row while the common part is read; then its cache is copied for every
prompt of the group, and the rest of the prompts follows. Positions are those in the whole prompt, and padding is
masked wherever it stands, so the sums are those of whole prompts up to the order of additions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tpbench_generate.prefixes import group_neighbours


def left_padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[list[list[int]], list[list[int]]]:
    """Rows of one width, padded on the left, and their mask (1 = token)."""
    width = max(map(len, rows))
    ids = [[pad] * (width - len(row)) + list(row) for row in rows]
    return ids, [[0] * (width - len(row)) + [1] * len(row) for row in rows]


def can_share(model: Any, attention: str) -> bool:
    """Whether a loaded model keeps every position in every layer, so that its cache can be copied and gone on with."""
    from transformers import DynamicCache

    if attention not in ("sdpa", "eager") or getattr(model, "_is_stateful", False):
        return False
    kinds = getattr(model.config.get_text_config(), "layer_types", None) or []
    if any(kind != "full_attention" for kind in kinds):
        return False
    return not any(getattr(layer, "is_sliding", False) for layer in DynamicCache(config=model.config).layers)


def shared_inputs(model: Any, prompts: Sequence[Sequence[int]], pad: int, device: Any) -> dict[str, Any] | None:
    """Reads the common beginnings and gives what ``model.generate`` goes on with.

    Args:
        model: A loaded model for which `can_share` holds.
        prompts: Token ids; prompts that begin alike are neighbours.
        pad: Id to fill up with.
        device: Of the model.

    Returns:
        ``input_ids`` and ``attention_mask`` of whole prompts, beginning and rest each padded on the left, and the
        cache of the beginnings; None where no two neighbours begin alike.
    """
    import torch
    from transformers import DynamicCache

    groups = group_neighbours(prompts)
    if all(len(group.rows) == 1 for group in groups):
        return None
    rest = max(len(prompts[row]) - group.shared for group in groups for row in group.rows if group.shared)
    cuts: list[int] = []  # tokens of the beginning, per prompt
    owners: list[int] = []  # row of the beginning, per prompt
    beginnings: list[Sequence[int]] = []
    for number, group in enumerate(groups):
        # A prompt without company is cut where the others are, which costs the least padding.
        cut = group.shared or max(1, len(prompts[group.rows[0]]) - rest)
        beginnings.append(prompts[group.rows[0]][:cut])
        cuts += [cut] * len(group.rows)
        owners += [number] * len(group.rows)
    if any(len(prompt) <= cut for prompt, cut in zip(prompts, cuts, strict=True)):
        return None  # a prompt of one token has no beginning
    ids, mask = (torch.tensor(part, device=device) for part in left_padded(beginnings, pad))
    cache = DynamicCache(config=model.config)
    model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=(mask.cumsum(-1) - 1).clamp(min=0),
        past_key_values=cache,
        logits_to_keep=1,
    )
    rows = torch.tensor(owners, device=device)
    cache.batch_select_indices(rows)
    ends = [prompt[cut:] for prompt, cut in zip(prompts, cuts, strict=True)]
    end_ids, end_mask = (torch.tensor(part, device=device) for part in left_padded(ends, pad))
    return {
        "input_ids": torch.cat([ids[rows], end_ids], dim=1),
        "attention_mask": torch.cat([mask[rows], end_mask], dim=1),
        "past_key_values": cache,
    }
