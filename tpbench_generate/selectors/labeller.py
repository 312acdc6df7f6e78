"""LLMLingua-2 through the `llmlingua` library, without what its constructor does besides.

The constructor downloads a token table, reseeds every global random generator and trusts remote code. Here the table
is asked for only where it is used, the generators are put back, and remote code stays off.
"""

from __future__ import annotations

import contextlib
import os
import random
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib import metadata
from itertools import accumulate
from typing import Any, Literal

from tpbench_data.errors import BadInput
from tpbench_generate.readers.model_source import explain_failure
from tpbench_generate.readers.packages import require_packages
from tpbench_generate.selectors import models, runtime
from tpbench_generate.selectors.word_labels import LABEL_SEPARATOR, WORD_SEPARATOR, Reading, Token

TESTED_VERSIONS = ("0.2.2",)
"""Versions of llmlingua whose labels were checked (0.2.2 uses XLM-R's own special tokens)."""

TokenCounts = Literal["cl100k_base", "words"]

_XLM_MARK = "\u2581"
_FAMILIES = {"xlm-roberta-large": _XLM_MARK, "bert-base-multilingual-cased": "##"}
"""What the library looks for in a model's name -> the mark of tokens that begin (XLM-R) or go on with (BERT) a word."""
_CACHED_TEXTS = 50_000
_JOINT = "\n"


class WordCounter:
    """Counts every word as one token: the offline stand-in for the table of an OpenAI tokenizer."""

    def encode(self, text: str) -> list[int]:
        """One id for a word, none for an empty text."""
        return [0] if text else []


class Labeller:
    """A LLMLingua-2 model that labels words.

    Args:
        name: A `model` setting; the model's name must contain ``xlm-roberta-large`` or
            ``bert-base-multilingual-cased``, because the library takes its rules from it.
        token_counts: Weight of a word when the library looks for the threshold: its tokens in ``cl100k_base``
            (published), or one for every word (``words``, needs no table).
        device: A torch device.

    Raises:
        MissingExtra: llmlingua is not installed.
        BadInput: The model or the table cannot be had, or the library's version was never checked.
    """

    def __init__(self, name: str, token_counts: TokenCounts, device: str) -> None:
        require_packages("torch", "transformers", "llmlingua", "tiktoken")
        _check_version()
        source = models.pinned_source(name)
        family = next((known for known in _FAMILIES if known in source.location), None)
        if family is None:
            raise BadInput(
                f"llmlingua cannot tell which kind of model {source.location} is",
                field="model",
                remedy=f"Its name must contain {' or '.join(_FAMILIES)}",
            )
        self._mark = _FAMILIES[family]
        counter = WordCounter() if token_counts == "words" else _published_table()
        with _generators_put_back(), _quiet():
            from llmlingua import PromptCompressor

            compressor = PromptCompressor.__new__(PromptCompressor)
            compressor.model_name = source.location
            compressor.use_llmlingua2 = True
            compressor.oai_tokenizer = counter
            options = {"trust_remote_code": False} | ({"revision": source.hub_revision} if source.hub_revision else {})
            try:
                compressor.load_model(source.location, "cpu", options)
                compressor.init_llmlingua2()
            except Exception as problem:
                raise explain_failure(problem, source) from problem
        compressor.model = compressor.model.to(device).eval()
        compressor.device = device
        self._compressor: Any = compressor
        self.labelled = lru_cache(maxsize=_CACHED_TEXTS)(self._labelled)

    def read(self, texts: Sequence[str]) -> Reading:
        """The tokens of the texts joined as lines, without special and unknown ones, which the library drops, too."""
        tokenizer = self._compressor.tokenizer
        joined = _JOINT.join(texts)
        ends = list(accumulate(len(text) + len(_JOINT) for text in texts))
        encoded = tokenizer(joined, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        names = tokenizer.convert_ids_to_tokens(encoded["input_ids"])
        tokens = []
        for name, (first, end) in zip(names, encoded["offset_mapping"], strict=True):
            begins = name.startswith(self._mark) == (self._mark == _XLM_MARK)
            known = name not in self._compressor.special_tokens
            turn = min(bisect_right(ends, end - 1), len(texts) - 1)
            tokens.append(Token(self._bare(name) if known else "", turn, first, begins))
        return Reading(joined, tokens)

    def _bare(self, name: str) -> str:
        if self._mark == _XLM_MARK or name.startswith(self._mark):
            return name.lstrip(self._mark)
        return name

    def _labelled(self, parts: tuple[str, ...], rate: float) -> str:
        with runtime.one_thread():
            found = self._compressor.compress_prompt_llmlingua2(
                list(parts),
                rate=rate,
                force_tokens=[],
                return_word_label=True,
                word_sep=WORD_SEPARATOR,
                label_sep=LABEL_SEPARATOR,
            )
        return str(found["fn_labeled_original_prompt"])


@cache
def open_labeller(name: str, token_counts: TokenCounts, device: str) -> Labeller:
    """The labeller of these settings, loaded once per process."""
    return Labeller(name, token_counts, device)


def _check_version() -> None:
    found = metadata.version("llmlingua")
    if found not in TESTED_VERSIONS:
        raise BadInput(
            f"llmlingua {found} is installed; labels were checked with {', '.join(TESTED_VERSIONS)} only",
            remedy=f"pip install llmlingua=={TESTED_VERSIONS[-1]}",
        )


def _published_table() -> Any:
    import tiktoken

    try:
        return tiktoken.get_encoding("cl100k_base")
    except Exception as problem:
        raise BadInput(
            f"the token table cl100k_base cannot be had ({type(problem).__name__})",
            field="token_counts",
            remedy="Connect once, or set TIKTOKEN_CACHE_DIR to a folder that holds it, or use token_counts=words",
        ) from problem


@contextlib.contextmanager
def _generators_put_back() -> Iterator[None]:
    """Leaves Python's, numpy's and torch's global generators, cuDNN's flags and the hash seed as they were."""
    import numpy as np
    import torch

    python, numpy_state, torch_state = random.getstate(), np.random.get_state(), torch.get_rng_state()
    flags = (torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark)
    hash_seed = os.environ.get("PYTHONHASHSEED")
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy_state)
        torch.set_rng_state(torch_state)
        torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = flags
        if hash_seed is None:
            os.environ.pop("PYTHONHASHSEED", None)
        else:
            os.environ["PYTHONHASHSEED"] = hash_seed


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars and warnings of transformers while a model loads."""
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    yield
