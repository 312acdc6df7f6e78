"""A model behind a server that speaks the OpenAI chat protocol: vLLM, llama.cpp, SGLang, TGI, or a hosted one.

Every prompt is one request without streaming; several are under way at once.
"""

from __future__ import annotations

import platform
import queue
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata

from tpbench_data import __version__
from tpbench_data.errors import BadInput
from tpbench_generate.readers.base import (
    Answer,
    Encoded,
    Environment,
    Failure,
    Messages,
    Reader,
    ReaderOptions,
    ReaderSettings,
)
from tpbench_generate.readers.chat_client import ChatClient
from tpbench_generate.readers.model_source import make_slug
from tpbench_generate.readers.server import PREFIX, Server


@dataclass(frozen=True)
class ChatPrompt(Encoded):
    """A prompt as the messages that are sent."""

    messages: tuple[Mapping[str, str], ...] = ()


class OpenAIReader(Reader):
    """A served model.

    Args:
        server: Where it is.
        options: Only ``max_new_tokens`` may differ from the default: the rest is settled where the server is started.
        name: What the `runs` row calls it.

    Raises:
        MissingExtra: The package openai is not installed.
        BadInput: An option means nothing to a server, or the key that is needed is not in the environment.
    """

    def __init__(self, server: Server, options: ReaderOptions, *, name: str = "") -> None:
        plain = ReaderOptions(max_new_tokens=options.max_new_tokens)
        for option in ("max_input_tokens", "truncation_side", "dtype", "attention", "device"):
            if getattr(options, option) != getattr(plain, option):
                raise BadInput(
                    "means nothing to a served model",
                    field=f"--{option.replace('_', '-')}",
                    remedy="Set it where the server is started, and leave it out here",
                )
        self._server = server
        self._client = ChatClient(server, options.max_new_tokens)
        self.settings = ReaderSettings(
            reader=name or f"{PREFIX}{server.model}",
            slug=make_slug(server.model.rsplit("/", 1)[-1]),
            model_id=server.model,
            model_revision=server.revision,
            backend="openai",
            dtype=None,
            attention=None,
            max_input_tokens=None,
            max_new_tokens=options.max_new_tokens,
            truncation_side=None,
            system_role=None,
            decoding=server.decoding,
            stop_token_ids=None,
            pad_token_id=None,
            template_hash=None,
        )
        self.environment = Environment(
            device=self._client.where,
            library_versions={
                "openai": metadata.version("openai"),
                "python": platform.python_version(),
                "tpbench": __version__,
            },
        )

    def encode(self, messages: Messages) -> ChatPrompt:
        if not messages:
            raise ValueError("the prompt has no messages")
        kept = tuple({"role": one["role"], "content": one["content"]} for one in messages)
        return ChatPrompt((), truncated=None, messages=kept)

    def load(self) -> None:
        """Asks the server for its models, so that a wrong address, key or name stops the run before it begins."""
        if self._server.check_model:
            self._client.check_model()

    def generate(self, batch: Sequence[Encoded]) -> list[Answer | Failure]:
        """Sends the prompts, ``concurrency`` at a time.

        Raises:
            TPBenchError: The key or the model is refused, or the server is gone.
        """
        outcomes = self._send_all(batch)
        if outcomes and all(isinstance(one, Failure) and one.kind == "ConnectionError" for one in outcomes):
            self._client.check_alive()
        return outcomes

    def _send_all(self, batch: Sequence[Encoded]) -> list[Answer | Failure]:
        places: queue.SimpleQueue[int] = queue.SimpleQueue()
        for place in range(len(batch)):
            places.put(place)
        found: dict[int, Answer | Failure] = {}
        faults: list[BaseException] = []
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                try:
                    place = places.get_nowait()
                except queue.Empty:
                    return
                try:
                    found[place] = self._client.ask(_messages_of(batch[place]), stop)
                except BaseException as problem:
                    faults.append(problem)
                    stop.set()

        # Daemons: on Ctrl-C the process must not wait for a server that takes its time.
        threads = [threading.Thread(target=work, daemon=True) for _ in range(min(self._server.concurrency, len(batch)))]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        finally:
            stop.set()
        if faults:
            raise faults[0]
        return [found[place] for place in range(len(batch))]


def _messages_of(prompt: Encoded) -> tuple[Mapping[str, str], ...]:
    if not isinstance(prompt, ChatPrompt):
        raise TypeError("a prompt of another reader")
    return prompt.messages
