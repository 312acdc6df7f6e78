"""How much attention every token of a text receives inside a causal language model, with the weights checked.

Each layer's weights are read and dropped as they come, so the memory needed is that of one layer. Fused attention
gives no weights, or weights without the causal mask; so eager attention is enforced, and every matrix is checked: rows
sum to 1 and nothing lies above the diagonal. Source: construction spec 5, "H2O-inspired attention proxy".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tpbench_data.errors import TPBenchError
from tpbench_generate.readers.model_source import explain_failure
from tpbench_generate.readers.packages import require_packages
from tpbench_generate.selectors import models, runtime

Mass = npt.NDArray[np.float64]

ROW_TOLERANCE = 1e-3
"""How far the weights of a query may be from summing to 1, in float32."""


_CACHED_TEXTS = 2_000


class BadAttention(TPBenchError):
    """A model gave no attention weights, or weights that cannot be causal softmax weights."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a text: its id and the characters it stands for, ``first`` to ``end`` (not included)."""

    id: int
    first: int
    end: int


class FeatureModel:
    """A causal language model whose attention is read.

    Args:
        name: A `model` setting.
        device: A torch device.

    Raises:
        MissingExtra: torch or transformers is not installed.
        BadInput: The model cannot be found or loaded.
    """

    def __init__(self, name: str, device: str) -> None:
        require_packages("torch", "transformers")
        import torch
        import transformers

        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        source = models.pinned_source(name)
        options: dict[str, Any] = {"revision": source.hub_revision or "main", "trust_remote_code": False}
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(source.location, **options)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                source.location, dtype=torch.float32, attn_implementation="eager", **options
            )
        except Exception as problem:
            raise explain_failure(problem, source) from problem
        if model.config._attn_implementation != "eager":
            raise BadAttention(f"model {source.location} does not use eager attention")
        if not self._tokenizer.is_fast:
            raise BadAttention(f"the tokenizer of {source.location} gives no offsets")
        self._model = model.to(device).eval()
        self._device = device
        config = model.config.get_text_config()
        self._n_layers = int(config.num_hidden_layers)
        self.mass = lru_cache(maxsize=_CACHED_TEXTS)(self._mass)
        self.positions = int(getattr(config, "max_position_embeddings", 0) or 0)

    def tokens(self, text: str) -> list[Token]:
        """The tokens of a text in order, the special tokens that the tokenizer adds included (they span nothing)."""
        encoded = self._tokenizer(text, return_offsets_mapping=True, verbose=False)
        return [
            Token(int(token), int(first), int(end))
            for token, (first, end) in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)
        ]

    def _mass(self, tokens: tuple[Token, ...]) -> Mass:
        """The attention every token receives: mean over layers and heads, summed over the query positions.

        One float per token; together they sum to the number of tokens. Public as ``mass``, which remembers texts.

        Raises:
            BadAttention: The model gave no weights, or impossible ones.
        """
        import torch

        layers: list[Mass] = []

        def read(module: Any, inputs: Any, output: Any) -> Any:
            if not (isinstance(output, tuple) and len(output) > 1 and _is_square(output[1], len(tokens))):
                return None
            layers.append(_checked_mass(output[1]))
            return (output[0], None, *output[2:])  # the layer above does not need the weights; memory does

        modules = [module for module in self._model.modules() if type(module).__name__.endswith("Attention")]
        hooks = [module.register_forward_hook(read) for module in modules]
        try:
            with runtime.one_thread():
                ids = torch.tensor([[token.id for token in tokens]], device=self._device)
                self._model(input_ids=ids, use_cache=False, logits_to_keep=1)
        finally:
            for hook in hooks:
                hook.remove()
        if len(layers) != self._n_layers:
            raise BadAttention(
                f"{len(layers)} of {self._n_layers} layers gave attention weights; eager ones are needed"
            )
        return np.asarray(np.mean(layers, axis=0))


@cache
def open_feature_model(name: str, device: str) -> FeatureModel:
    """The feature model of a `model` setting, loaded once per process."""
    return FeatureModel(name, device)


def _is_square(weights: Any, length: int) -> bool:
    return weights is not None and getattr(weights, "ndim", 0) == 4 and tuple(weights.shape[-2:]) == (length, length)


def _checked_mass(weights: Any) -> Mass:
    """Mean over heads and sum over queries of weights with the axes (1, heads, queries, keys), after checks."""
    import torch

    off = float((weights.sum(dim=-1) - 1).abs().max())
    if not off <= ROW_TOLERANCE:  # also where it is NaN
        raise BadAttention(f"attention rows do not sum to 1 (off by {off:.3g})")
    if bool((torch.triu(weights, diagonal=1) != 0).any()):
        raise BadAttention("attention looks ahead: there are weights above the diagonal")
    return np.asarray(weights[0].sum(dim=1, dtype=torch.float64).mean(dim=0).cpu().numpy(), dtype=np.float64)
