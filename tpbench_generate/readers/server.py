"""Where a served model is and how to talk to it: its address, its key, and how patient to be.

Importing this loads no client.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tpbench_data.canonical import canonical_json
from tpbench_data.errors import BadInput

PREFIX = "openai:"
DEFAULT_KEY_ENV, OTHER_KEY_ENV = "OPENAI_API_KEY", "TPBENCH_API_KEY"
"""Where a key is read from: the first for the client's own default address, the second for any other."""

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

    @property
    def key_name(self) -> str:
        """The environment variable that holds the key, if one is needed."""
        return self.api_key_env or (OTHER_KEY_ENV if self.base_url else DEFAULT_KEY_ENV)

    def key(self) -> str | None:
        """The key from the environment; None where the server may do without.

        Raises:
            BadInput: A key is needed and not there.
        """
        value = os.environ.get(self.key_name, "").strip()
        if not value and (self.api_key_env or not self.base_url):
            raise BadInput(
                f"the environment variable {self.key_name} is not set",
                field="--reader",
                remedy="Put the server's key there; it is never stored",
            )
        return value or None


def parse_server(name: str) -> Server:
    """Reads ``openai:MODEL`` or ``openai:MODEL@http://HOST:PORT/v1``; raises BadInput."""
    text = name.removeprefix(PREFIX)
    at = max(text.rfind("@http://"), text.rfind("@https://"))
    return Server(text) if at < 0 else Server(text[:at], text[at + 1 :].rstrip("/"))


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        raise BadInput(f"'{shown_url(url)}' is no address", field="base_url", remedy="Write http://HOST:PORT/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadInput(
            "an address with a user name, password or query would end up in the run folder",
            field="base_url",
            remedy="Put the key into an environment variable and name it as api_key_env in a reader file",
        )


def shown_url(url: str) -> str:
    """The address without anything secret."""
    scheme, found, rest = url.partition("://")
    return f"{scheme}{found}{rest.rpartition('@')[2].partition('?')[0]}".rstrip("/")
