"""The shared bi-encoder: unit vectors of turns and questions, one text at a time.

A text is never padded beside others, so its vector depends on nothing but the text: a batch, a worker or another order
of dialogues cannot change a context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from tpbench_data.errors import BadInput
from tpbench_data.selectors.base import SelectionInput, Selector
from tpbench_generate.readers.model_source import explain_failure
from tpbench_generate.readers.packages import require_packages
from tpbench_generate.selectors import models, runtime
from tpbench_generate.selectors.minilm import NAME as MINILM

Vectors = npt.NDArray[np.float64]
Role = Literal["text", "query", "document"]

_CACHED_TEXTS = 20_000


class Encoder:
    """A sentence-transformers model.

    Args:
        name: A `model` setting.
        device: A torch device.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        BadInput: The model cannot be found or loaded.
    """

    def __init__(self, name: str, device: str) -> None:
        require_packages("torch", "transformers", "sentence_transformers")
        import transformers
        from sentence_transformers import SentenceTransformer

        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        source = models.pinned_source(name)
        try:
            self._model: Any = SentenceTransformer(
                source.location, device=device, revision=source.hub_revision, trust_remote_code=False
            )
        except Exception as problem:
            raise explain_failure(problem, source) from problem
        self._limit = int(self._model.max_seq_length or 512)
        self._vector = lru_cache(maxsize=_CACHED_TEXTS)(self._encode)

    def embed(self, texts: Sequence[str], role: Role, max_tokens: int | None = None) -> Vectors:
        """Unit vectors, one row a text.

        Args:
            texts: The texts, at least one.
            role: ``query`` or ``document`` where the model distinguishes them, else ``text``.
            max_tokens: Longer texts are cut to this many tokens, special ones included; None or more than the
                model's limit = the limit.
        """
        limit = min(max_tokens or self._limit, self._limit)
        with runtime.one_thread():
            return np.stack([self._vector(text, role, limit) for text in texts])

    def _encode(self, text: str, role: Role, limit: int) -> Vectors:
        self._model.max_seq_length = limit
        encode = {
            "text": self._model.encode,
            "query": self._model.encode_query,
            "document": self._model.encode_document,
        }[role]
        vector: Vectors = np.asarray(encode([text], show_progress_bar=False)[0], dtype=np.float64)
        return vector / (float(np.sqrt(np.sum(vector * vector))) + 1e-9)


@cache
def open_encoder(name: str, device: str) -> Encoder:
    """The encoder of a `model` setting, loaded once per process."""
    return Encoder(name, device)


@dataclass(frozen=True)
class EncoderSelector(Selector):
    """A selector that looks at vectors of a bi-encoder.

    Attributes:
        model: The encoder: `minilm-l6-v2`, or `hf:` with a hub id or folder of a sentence-transformers model.
        max_tokens: Tokens of a turn that are read; none = the encoder's limit.
    """

    needs_model: ClassVar[bool] = True

    model: str = MINILM
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        if self.max_tokens is not None and self.max_tokens < 1:
            raise BadInput(f"max_tokens of {self.name} must be at least 1, not {self.max_tokens}")

    def pinned(self) -> Self:
        """The method with the revision of its encoder."""
        return replace(self, model=models.pinned_name(self.model))

    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors, one row a text."""
        return open_encoder(self.model, runtime.device()).embed(texts, role, self.max_tokens)

    def relevance(self, item: SelectionInput) -> list[float]:
        """The dot product of the question's unit vector with that of every turn, one float per turn, -1 to 1."""
        question = self.vectors([item.question], "query")[0]
        return [float(score) for score in dot(self.vectors(item.texts, "document"), question)]


def dot(rows: Vectors, vector: Vectors) -> Vectors:
    """The dot product of every row with a vector, summed in an order that no linear algebra library decides."""
    return np.asarray(np.einsum("nd,d->n", rows, vector, optimize=False))
