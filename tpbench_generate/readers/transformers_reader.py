"""A Hugging Face causal language model on this machine's CPU or GPU, decoded greedily.

Only code that ships with transformers runs: a model that brings its own code is refused.
Source: construction spec 12.
"""

from __future__ import annotations

import contextlib
import io
import logging
import platform
from collections.abc import Sequence
from importlib import metadata
from typing import Any, Literal

from tpbench_data import __version__
from tpbench_data.errors import BadInput
from tpbench_generate.readers.base import (
    Answer,
    Encoded,
    Environment,
    Messages,
    Reader,
    ReaderOptions,
    ReaderSettings,
)
from tpbench_generate.readers.device_faults import telling_faults
from tpbench_generate.readers.model_source import ModelSource, explain_failure
from tpbench_generate.readers.packages import require_packages
from tpbench_generate.readers.prompting import PromptEncoder
from tpbench_generate.readers.shared_beginnings import can_share, left_padded, shared_inputs


class TransformersReader(Reader):
    """A causal language model through transformers: greedy, left-padded batches.

    Opening reads configuration and tokenizer only. Stop tokens are all those of the generation configuration plus
    the token that ends an assistant's turn in the chat template. Other settings of the model's generation
    configuration (sampling, repetition penalty) are not used.

    Raises:
        MissingExtra: torch or transformers is not installed.
        BadInput: The model cannot be found or used, or an option does not fit it.
    """

    def __init__(self, source: ModelSource, options: ReaderOptions) -> None:
        require_packages("torch", "transformers")
        import torch
        import transformers

        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        self._source = source
        self._model: Any = None
        self._share_beginnings, self._shares = options.share_beginnings, False
        self._device = _device(options.device)
        config = _from_source(transformers.AutoConfig, source)
        tokenizer = _from_source(transformers.AutoTokenizer, source)
        self._tokenizer = tokenizer
        limit = _input_limit(config, tokenizer, options)
        self._encoder = PromptEncoder(tokenizer, max_input_tokens=limit, truncation_side=options.truncation_side)
        generation = _generation_config(config, source)
        stop_ids = _ids(generation.eos_token_id)
        if self._encoder.end_of_turn_id is not None:
            stop_ids.add(self._encoder.end_of_turn_id)
        if not stop_ids:
            stop_ids = _ids(tokenizer.eos_token_id)
        pad_id = next(
            (
                one
                for one in (generation.pad_token_id, tokenizer.pad_token_id, *sorted(stop_ids))
                if one is not None and one >= 0
            ),
            0,
        )
        dtype = options.dtype
        if dtype == "auto":
            dtype = "float32" if self._device.type == "cpu" else "bfloat16"
        self.settings = ReaderSettings(
            reader=source.reader,
            slug=source.slug,
            model_id=source.model_id,
            model_revision=source.model_revision or getattr(config, "_commit_hash", None),
            backend="transformers",
            dtype=dtype,
            attention=options.attention,
            max_input_tokens=limit,
            max_new_tokens=options.max_new_tokens,
            truncation_side=options.truncation_side,
            system_role=self._encoder.system_role,
            decoding="greedy",
            stop_token_ids=tuple(sorted(stop_ids)),
            pad_token_id=pad_id,
            template_hash=self._encoder.template_hash,
        )
        self._pad: int = pad_id
        self.environment = Environment(
            device=_describe(self._device),
            library_versions={
                "python": platform.python_version(),
                "tokenizers": metadata.version("tokenizers"),
                "torch": str(torch.__version__),
                "tpbench": __version__,
                "transformers": str(transformers.__version__),
            },
        )

    def encode(self, messages: Messages) -> Encoded:
        return self._encoder.encode(messages)

    def load(self) -> None:
        import torch
        import transformers

        if self._model is not None:
            return
        settings = self.settings
        model = _from_source(
            transformers.AutoModelForCausalLM,
            self._source,
            dtype=getattr(torch, str(settings.dtype)),
            attn_implementation=settings.attention,
        )
        try:
            model = model.to(self._device).eval()
        except Exception as problem:
            raise explain_failure(problem, self._source) from problem
        # generate() fills every gap of the configuration it is given from the model's own one, which may hold a
        # repetition penalty or sampling; so the model gets ours.
        model.generation_config = transformers.GenerationConfig(
            max_new_tokens=settings.max_new_tokens,
            do_sample=False,
            num_beams=1,
            eos_token_id=list(settings.stop_token_ids or ()) or None,
            pad_token_id=settings.pad_token_id,
        )
        self._shares = self._share_beginnings and can_share(model, str(settings.attention))
        self._model = model

    def generate(self, batch: Sequence[Encoded]) -> list[Answer]:
        if not batch:
            return []
        return [self._answer(row) for row in self.new_tokens([prompt.ids for prompt in batch])]

    def new_tokens(self, prompts: Sequence[Sequence[int]]) -> list[list[int]]:
        """The tokens that follow each prompt; those behind the first stop token are padding.

        Args:
            prompts: Token ids, at least one of each.

        Raises:
            TPBenchError: The device is broken, which no prompt is to blame for.
        """
        import torch

        self.load()
        with telling_faults(), torch.inference_mode():
            inputs = shared_inputs(self._model, prompts, self._pad, self._device) if self._shares else None
            if inputs is None:
                ids, mask = left_padded(prompts, self._pad)
                inputs = {
                    "input_ids": torch.tensor(ids, device=self._device),
                    "attention_mask": torch.tensor(mask, device=self._device),
                }
            output = self._model.generate(**inputs)
        rows: list[list[int]] = output[:, inputs["input_ids"].shape[1] :].tolist()
        return rows

    def until_stop(self, new_ids: Sequence[int]) -> list[int]:
        """New tokens up to the first stop token, that one included."""
        stops = set(self.settings.stop_token_ids or ())
        end = next((place for place, token in enumerate(new_ids) if token in stops), len(new_ids))
        return list(new_ids[: end + 1])

    def next_logits(self, ids: Sequence[int]) -> list[float]:
        """The logits of the token that follows, one per entry of the vocabulary."""
        import torch

        self.load()
        with torch.inference_mode():
            found = self._model(input_ids=torch.tensor([list(ids)], device=self._device), logits_to_keep=1)
        logits: list[float] = found.logits[0, -1].float().tolist()
        return logits

    def answer_tokens(self, text: str) -> list[int]:
        """The tokens of an answer and the stop token; they spell the text, and need not be those it was made of."""
        stop = (self.settings.stop_token_ids or [self._pad])[0]
        return [*self._tokenizer.encode(text, add_special_tokens=False), stop]

    def _answer(self, new_ids: list[int]) -> Answer:
        kept = self.until_stop(new_ids)
        end = kept[-1] in (self.settings.stop_token_ids or ()) if kept else False
        finish: Literal["stop", "length"] = "stop" if end else "length"
        # The stop token goes by its id: a tokenizer need not count it among its special tokens.
        text = self._tokenizer.decode(
            kept[:-1] if end else kept, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return Answer(text=str(text), finish_reason=finish, output_tokens=len(kept))


def _from_source(auto_class: Any, source: ModelSource, **options: Any) -> Any:
    """``auto_class.from_pretrained`` with remote code off and every failure told in one line."""
    quiet: Any = contextlib.nullcontext()
    if source.gguf_file is not None:
        require_packages("gguf")
        options["gguf_file"] = source.gguf_file
        quiet = contextlib.redirect_stderr(io.StringIO())  # the progress bar of the conversion has no switch
    try:
        with quiet:
            return auto_class.from_pretrained(
                source.location, revision=source.hub_revision or "main", trust_remote_code=False, **options
            )
    except Exception as problem:
        raise explain_failure(problem, source) from problem


def _generation_config(config: Any, source: ModelSource) -> Any:
    import transformers

    try:
        return transformers.GenerationConfig.from_pretrained(source.location, revision=source.hub_revision or "main")
    except Exception:
        # Older models have no such file; transformers then derives the same settings from the model's.
        return transformers.GenerationConfig.from_model_config(config)


def _ids(value: int | list[int] | None) -> set[int]:
    if value is None:
        return set()
    return {value} if isinstance(value, int) else set(value)


def _input_limit(config: Any, tokenizer: Any, options: ReaderOptions) -> int | None:
    """Most prompt tokens: as asked, else what the model's positions leave; None where the model states no limit."""
    positions = getattr(config.get_text_config(), "max_position_embeddings", None)
    if not positions and tokenizer.model_max_length < 10**9:  # unset = an absurdly large number
        positions = tokenizer.model_max_length
    if not positions:
        return options.max_input_tokens
    room = int(positions) - options.max_new_tokens
    if room < 2:
        raise BadInput(
            f"the model has {positions} positions, which leaves no room for {options.max_new_tokens} new tokens",
            field="max_new_tokens",
        )
    if options.max_input_tokens is not None and options.max_input_tokens > room:
        raise BadInput(
            f"{options.max_input_tokens} input tokens and {options.max_new_tokens} new ones exceed the model's"
            f" {positions} positions",
            field="max_input_tokens",
            remedy=f"Use at most {room}",
        )
    return options.max_input_tokens or room


def _device(name: str) -> Any:
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as problem:
        raise BadInput(
            f"'{name}' cannot be used here: {str(problem).splitlines()[0]}",
            field="--device",
            remedy="Use auto, cpu, or a GPU such as cuda:0",
        ) from None
    return device


def _describe(device: Any) -> str:
    import torch

    if device.type == "cuda":
        return f"cuda ({torch.cuda.get_device_name(device)})"
    if device.type == "cpu":
        # The number of threads changes the order of float sums, hence (rarely) an answer.
        return f"cpu ({platform.machine()}, {torch.get_num_threads()} threads)"
    return str(device.type)
