"""One prompt over the OpenAI chat protocol: asked, tried again where that makes sense, and its reply understood.

What may pass (429, 5xx, a timeout, a dropped connection, a reply that is no JSON) is tried again with growing pauses;
what will not (other 4xx) is not.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from tpbench_data.errors import BadInput, TPBenchError
from tpbench_generate.readers.base import Answer, Failure
from tpbench_generate.readers.packages import require_packages
from tpbench_generate.readers.server import Server, shown_url

_NO_KEY = "no-key-needed"
_STOPS_THE_RUN = (401, 403, 404)
"""A wrong key, a forbidden or a missing model: the same for every prompt, so no prompt is to blame."""


class ChatClient:
    """Talks to a server; may be used by several threads.

    Args:
        server: Where it is.
        max_new_tokens: Most tokens of an answer.

    Attributes:
        where: The server's address, fit to be shown and stored.

    Raises:
        MissingExtra: The package openai is not installed.
        BadInput: The key that is needed is not in the environment.
    """

    def __init__(self, server: Server, max_new_tokens: int) -> None:
        require_packages("openai")
        import openai

        self._server = server
        self._max_new_tokens = max_new_tokens
        self._key = server.key()
        self._client = openai.OpenAI(
            api_key=self._key or _NO_KEY,
            base_url=server.base_url,
            timeout=server.timeout_s,
            max_retries=0,  # attempts are counted here
        )
        self.where = f"server {shown_url(str(self._client.base_url))}"

    def check_model(self) -> None:
        """Raises BadInput for a wrong address, a refused key, or a model that the server does not list."""
        import openai

        try:
            listed = [model.id for model in self._client.models.list().data]
        except openai.APIConnectionError as problem:
            raise BadInput(
                f"no answer from {self.where}: {self._line(problem.__cause__ or problem)}",
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
                f"{self.where} has no model '{self._server.model}'",
                field="--reader",
                remedy=f"It has: {shown}",
            )

    def check_alive(self) -> None:
        """Raises TPBenchError if the server cannot be reached at all: then no prompt is to blame."""
        import openai

        try:
            self._client.models.list()
        except openai.APITimeoutError:
            return
        except openai.APIConnectionError:
            raise TPBenchError(
                f"{self.where} cannot be reached any more."
                " Start it and run the same command again: finished batches are kept."
            ) from None
        except Exception:
            return  # it answers, if only with an error

    def ask(self, messages: Sequence[Mapping[str, str]], stop: threading.Event) -> Answer | Failure:
        """The answer to a prompt, after as many attempts as it takes and the server's settings allow.

        Args:
            messages: The prompt.
            stop: No further attempt once this is set.

        Raises:
            TPBenchError: The key or the model is refused.
        """
        import openai

        attempt = 0
        while True:
            attempt += 1
            asked_wait: float | None = None
            try:
                return _answer_of(self._request(messages), attempt)
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
                asked_wait = retry_after(problem.response.headers.get("retry-after"))
            if attempt == self._server.max_attempts or stop.is_set():
                return failure
            stop.wait(self._pause(attempt, asked_wait))

    def _request(self, prompt: Sequence[Mapping[str, str]]) -> Any:
        import openai

        server = self._server
        greedy = {"temperature": 0.0, "top_p": 1.0} if server.greedy else {}
        limit = {server.max_tokens_field: self._max_new_tokens}
        messages: Any = [dict(message) for message in prompt]
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

    def _refused(self, problem: Any) -> str:
        return f"{self.where} refused with {problem.status_code}: {self._line(problem)}"

    def _key_remedy(self) -> str:
        return f"Check the model's name, the address, and the key in the environment variable {self._server.key_name}"

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


def retry_after(header: str | None) -> float | None:
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
