"""A model behind a server that speaks the OpenAI chat protocol: vLLM, llama.cpp, SGLang, TGI, or a hosted one.

Every prompt is one request without streaming; several are under way at once. What may pass (429, 5xx, a timeout, a
dropped connection, a reply that is no JSON) is tried again with growing pauses; what will not (other 4xx) is not.
"""

from __future__ import annotations

import os
import platform
import queue
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from importlib import metadata
from typing import Any
from urllib.parse import urlsplit

from tpbench_data import __version__
from tpbench_data.canonical import canonical_json
from tpbench_data.errors import BadInput, TPBenchError
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
from tpbench_generate.readers.model_source import make_slug
from tpbench_generate.readers.packages import require_packages

PREFIX = "openai:"
DEFAULT_KEY_ENV, OTHER_KEY_ENV = "OPENAI_API_KEY", "TPBENCH_API_KEY"
"""Where a key is read from: the first for the client's own default address, the second for any other."""

_NO_KEY = "no-key-needed"
_STOPS_THE_RUN = (401, 403, 404)
"""A wrong key, a forbidden or a missing model: the same for every prompt, so no prompt is to blame."""

_OWN_PARAMETERS = frozenset(
    ("model", "messages", "temperature", "top_p", "max_tokens", "max_completion_tokens", "stream", "n")
)


@dataclass(frozen=True)
class Server:
    """A served model and how to talk to it.

    Attributes:
        model: The name that the server knows it by.
        base_url: Address up to ``/v1``; None = the client's default (OPENAI_BASE_URL, else the hosted service).
        revision: What the server was started with, for the record; the protocol does not tell.
        api_key_env: Environment variable that holds the key; None = `DEFAULT_KEY_ENV` or `OTHER_KEY_ENV`.
        concurrency: Requests under way at once, at least 1.
        timeout_s: Longest silence of the server within one request, in seconds.
        max_attempts: How often one prompt is sent at most, the first time included.
        backoff_s: Pause before the second attempt, in seconds; it doubles with every further one.
        longest_wait_s: Longest pause, also where the server asks for a longer one.
        max_tokens_field: Name of the limit on new tokens: "max_tokens" or "max_completion_tokens".
        greedy: Send temperature 0 and top_p 1; some hosted models refuse them.
        parameters: Further fields of every request, such as ``{"reasoning_effort": "none"}``.
        check_model: Ask the server for its models first and refuse a name that it does not list.

    Raises:
        BadInput: A value is out of range.
    """

    model: str
    base_url: str | None = None
    revision: str | None = None
    api_key_env: str | None = None
    concurrency: int = 8
    timeout_s: float = 120.0
    max_attempts: int = 5
    backoff_s: float = 1.0
    longest_wait_s: float = 60.0
    max_tokens_field: str = "max_tokens"
    greedy: bool = True
    parameters: Mapping[str, Any] = field(default_factory=dict)
    check_model: bool = True

    def __post_init__(self) -> None:
        if not self.model:
            raise BadInput("names no model", field="model", remedy="Write openai:MODEL@http://HOST:PORT/v1")
        if self.base_url is not None:
            _check_url(self.base_url)
        for name in ("concurrency", "max_attempts"):
            if getattr(self, name) < 1:
                raise BadInput(f"must be at least 1, not {getattr(self, name)}", field=name)
        for name in ("timeout_s", "longest_wait_s"):
            if not 0 < getattr(self, name) < 1e6:
                raise BadInput(f"must be a number of seconds above 0, not {getattr(self, name)}", field=name)
        if not 0 <= self.backoff_s < 1e6:
            raise BadInput(f"must be a number of seconds, not {self.backoff_s}", field="backoff_s")
        if self.max_tokens_field not in ("max_tokens", "max_completion_tokens"):
            raise BadInput("must be max_tokens or max_completion_tokens", field="max_tokens_field")
        if own := sorted(_OWN_PARAMETERS & set(self.parameters)):
            raise BadInput(f"'{own[0]}' is set by tpbench", field="parameters", remedy="Leave it out")

    @property
    def decoding(self) -> str:
        """What the `runs` row records: "greedy" or "server default", with further parameters behind it."""
        text = "greedy" if self.greedy else "server default"
        return text + (f"; {canonical_json(dict(self.parameters))}" if self.parameters else "")


def parse_server(name: str) -> Server:
    """Reads ``openai:MODEL`` or ``openai:MODEL@http://HOST:PORT/v1``; raises BadInput."""
    text = name.removeprefix(PREFIX)
    at = max(text.rfind("@http://"), text.rfind("@https://"))
    return Server(text) if at < 0 else Server(text[:at], text[at + 1 :].rstrip("/"))


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
        require_packages("openai")
        import openai

        plain = ReaderOptions(max_new_tokens=options.max_new_tokens)
        for option in ("max_input_tokens", "truncation_side", "dtype", "attention", "device"):
            if getattr(options, option) != getattr(plain, option):
                raise BadInput(
                    "means nothing to a served model",
                    field=f"--{option.replace('_', '-')}",
                    remedy="Set it where the server is started, and leave it out here",
                )
        self._server = server
        self._key = _key(server)
        self._client = openai.OpenAI(
            api_key=self._key or _NO_KEY,
            base_url=server.base_url,
            timeout=server.timeout_s,
            max_retries=0,  # attempts are counted here
        )
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
            device=f"server {_shown_url(str(self._client.base_url))}",
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
        if not self._server.check_model:
            return
        import openai

        try:
            listed = [model.id for model in self._client.models.list().data]
        except openai.APIConnectionError as problem:
            raise BadInput(
                f"no answer from {self.environment.device}: {self._line(problem.__cause__ or problem)}",
                field="--reader",
                remedy="Start the server, or correct the address",
            ) from None
        except openai.APIStatusError as problem:
            if problem.status_code in (401, 403):
                raise BadInput(self._refused(problem), remedy=self._key_remedy()) from None
            return  # not every server lists its models
        except Exception:
            return  # a list that is not one says nothing about the chat
        if listed and self._server.model not in listed:
            shown = ", ".join(sorted(listed)[:5]) + (", …" if len(listed) > 5 else "")
            raise BadInput(
                f"{self.environment.device} has no model '{self._server.model}'",
                field="--reader",
                remedy=f"It has: {shown}",
            )

    def generate(self, batch: Sequence[Encoded]) -> list[Answer | Failure]:
        """Sends the prompts, ``concurrency`` at a time.

        Raises:
            TPBenchError: The key or the model is refused, or the server is gone.
        """
        outcomes = self._send_all(batch)
        if outcomes and all(isinstance(one, Failure) and one.kind == "ConnectionError" for one in outcomes):
            self._check_alive()
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
                    found[place] = self._ask(batch[place], stop)
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

    def _ask(self, prompt: Encoded, stop: threading.Event) -> Answer | Failure:
        import openai

        if not isinstance(prompt, ChatPrompt):
            raise TypeError("a prompt of another reader")
        attempt = 0
        while True:
            attempt += 1
            asked_wait: float | None = None
            try:
                return _answer_of(self._request(prompt), attempt)
            except _Malformed as problem:
                failure = Failure("MalformedReply", self._line(problem), attempt)
            except openai.APITimeoutError:
                failure = Failure("Timeout", f"no reply within {self._server.timeout_s:g} s", attempt)
            except openai.APIConnectionError as problem:
                failure = Failure("ConnectionError", self._line(problem.__cause__ or problem), attempt)
            except openai.APIStatusError as problem:
                status = problem.status_code
                if status in _STOPS_THE_RUN or getattr(problem, "code", None) == "insufficient_quota":
                    raise TPBenchError(
                        f"{self._refused(problem)}. {self._key_remedy()}; finished batches are kept."
                    ) from None
                kind = "RateLimit" if status == 429 else "ServerError" if status >= 500 else "BadRequest"
                failure = Failure(kind, f"{status}: {self._line(problem)}", attempt)
                if kind == "BadRequest":
                    return failure
                asked_wait = _retry_after(problem.response.headers.get("retry-after"))
            if attempt == self._server.max_attempts or stop.is_set():
                return failure
            stop.wait(self._pause(attempt, asked_wait))

    def _request(self, prompt: ChatPrompt) -> Any:
        import openai

        server = self._server
        greedy = {"temperature": 0.0, "top_p": 1.0} if server.greedy else {}
        limit = {server.max_tokens_field: self.settings.max_new_tokens}
        messages: Any = [dict(message) for message in prompt.messages]
        create: Callable[..., Any] = self._client.chat.completions.create
        try:
            return create(
                model=server.model,
                messages=messages,
                stream=False,
                extra_body=dict(server.parameters) or None,
                **greedy,
                **limit,
            )
        except openai.APIResponseValidationError as problem:
            raise _Malformed(str(problem)) from None
        except openai.APIError:
            raise
        except ValueError as problem:  # the body was announced as JSON and is not
            raise _Malformed(f"not JSON: {problem}") from None

    def _pause(self, attempt: int, asked: float | None) -> float:
        if asked is not None:
            return min(asked, self._server.longest_wait_s)
        grown: float = self._server.backoff_s * 2.0 ** min(attempt - 1, 20)
        # Spread, so that requests that failed together do not come back together. No output depends on it.
        return min(grown, self._server.longest_wait_s) * (0.75 + random.random() / 2)

    def _check_alive(self) -> None:
        """Raises TPBenchError if the server cannot be reached at all: then no prompt is to blame."""
        import openai

        try:
            self._client.models.list()
        except openai.APITimeoutError:
            return
        except openai.APIConnectionError:
            raise TPBenchError(
                f"{self.environment.device} cannot be reached any more."
                " Start it and run the same command again: finished batches are kept."
            ) from None
        except Exception:
            return  # it answers, if only with an error

    def _refused(self, problem: Any) -> str:
        return f"{self.environment.device} refused with {problem.status_code}: {self._line(problem)}"

    def _key_remedy(self) -> str:
        name = self._server.api_key_env or (OTHER_KEY_ENV if self._server.base_url else DEFAULT_KEY_ENV)
        return f"Check the model's name, the address, and the key in the environment variable {name}"

    def _line(self, problem: object) -> str:
        """The first line of an error without the key, should a server send it back."""
        body = getattr(problem, "body", None)
        told = body.get("message") if isinstance(body, dict) else None
        text = (str(told or problem).strip().splitlines() or [type(problem).__name__])[0].rstrip(".")
        return (text.replace(self._key, "***") if self._key else text)[:300]


class _Malformed(Exception):
    """A reply that is no chat completion."""


def _answer_of(reply: Any, attempt: int) -> Answer | Failure:
    try:
        choice = reply.choices[0]
        text, reason = choice.message.content, choice.finish_reason
    except (AttributeError, IndexError, TypeError):
        raise _Malformed("not a chat completion") from None
    if reason == "content_filter":
        return Failure("ContentFilter", "the server withheld the answer", attempt)
    if not isinstance(text, str):
        raise _Malformed("a completion without text")
    usage = getattr(reply, "usage", None)
    return Answer(
        text=text,
        finish_reason="length" if reason == "length" else "stop",
        output_tokens=_count(usage, "completion_tokens"),
        prompt_tokens=_count(usage, "prompt_tokens"),
        attempts=attempt,
    )


def _count(usage: Any, name: str) -> int | None:
    value = getattr(usage, name, None)
    return value if type(value) is int and 0 <= value < 1 << 31 else None


def _retry_after(header: str | None) -> float | None:
    """Seconds that a Retry-After header asks for: a number or a date; None where it is neither."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - time.time()
    return max(0.0, seconds) if seconds == seconds else None


def _key(server: Server) -> str | None:
    name = server.api_key_env or (OTHER_KEY_ENV if server.base_url else DEFAULT_KEY_ENV)
    value = os.environ.get(name, "").strip()
    if not value and (server.api_key_env or not server.base_url):
        raise BadInput(
            f"the environment variable {name} is not set",
            field="--reader",
            remedy="Put the server's key there; it is never stored",
        )
    return value or None


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        raise BadInput(f"'{_shown_url(url)}' is no address", field="base_url", remedy="Write http://HOST:PORT/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadInput(
            "an address with a user name, password or query would end up in the run folder",
            field="base_url",
            remedy="Put the key into an environment variable and name it as api_key_env in a reader file",
        )


def _shown_url(url: str) -> str:
    """The address without anything secret."""
    scheme, found, rest = url.partition("://")
    return f"{scheme}{found}{rest.rpartition('@')[2].partition('?')[0]}".rstrip("/")
