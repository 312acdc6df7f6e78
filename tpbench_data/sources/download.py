"""Downloading one file: resumed where it broke off, checked by hash, and put in place only when it is whole."""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from tpbench_data import __version__
from tpbench_data.errors import BadInput
from tpbench_data.sources.hashing import file_sha256

MAX_BYTES = 4 * 2**30
_CHUNK = 1 << 20
_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Download:
    """What `fetch` did.

    Attributes:
        path: The file.
        sha256: Hash of its content.
        fetched: Bytes that came over the network; 0 where the file was there already.
    """

    path: Path
    sha256: str
    fetched: int


class _BrokenOff(Exception):
    """The body ended early; what came is kept."""


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects within http and https, never from https to http."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        schemes = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if schemes[1] not in ("http", "https") or schemes == ("https", "http"):
            raise BadInput(f"is redirected to {newurl}, which is not followed", file=req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fetch(
    url: str,
    target: Path,
    expected: str | None,
    *,
    attempts: int = 4,
    wait_s: float = 1.0,
    progress: Callable[[str], None] = lambda text: None,
) -> Download:
    """Downloads a file unless it is there already.

    Until it is whole the content lies beside the target under ``<name>.part``; a later call goes on from there,
    if the server still has the same content.

    Args:
        url: http or https address.
        target: File to make; its folder is made too.
        expected: SHA-256 of the content, ``None`` = take what comes.
        attempts: How often to try when the connection breaks or the server fails.
        wait_s: Seconds before the second attempt; doubles each time.
        progress: Called with a line of text now and then.

    Raises:
        BadInput: An address that cannot be fetched, a file that is not the expected one, or a server that keeps
            failing; what was downloaded stays for the next call, unless it is wrong.
    """
    if target.exists():
        found = file_sha256(target)
        if expected not in (None, found):
            raise BadInput(
                f"is there already, with SHA-256 {found} instead of {expected}", file=target, remedy="Move it away"
            )
        return Download(target, found, 0)
    if urlsplit(url).scheme not in ("http", "https"):
        raise BadInput("not an http or https address", file=url)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    fetched = 0
    for attempt in range(attempts):
        before = part.stat().st_size if part.exists() else 0
        try:
            fetched += _receive(url, part, progress)
            break
        except (_BrokenOff, urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as problem:
            fetched += max(0, (part.stat().st_size if part.exists() else 0) - before)
            if isinstance(problem, urllib.error.HTTPError) and problem.code < 500:
                raise BadInput(
                    f"the server answers {problem.code} {problem.reason}",
                    file=url,
                    remedy="Check the address, or download the file by hand and use `sources check`",
                ) from problem
            if attempt == attempts - 1:
                raise BadInput(
                    f"download failed {attempts} times ({problem or type(problem).__name__})",
                    file=url,
                    remedy="Run the same command again: it goes on where it stopped",
                ) from problem
            time.sleep(wait_s * 2**attempt)
    found = file_sha256(part)
    if expected not in (None, found):
        _forget(part)
        raise BadInput(
            f"the content has SHA-256 {found} instead of {expected}: it changed at the source or on the way",
            file=url,
            remedy="Try again; if it stays, the source was changed and the pinned hash is out of date",
        )
    with part.open("rb") as handle:
        os.fsync(handle.fileno())
    part.replace(target)
    _forget(part)
    return Download(target, found, fetched)


def _receive(url: str, part: Path, progress: Callable[[str], None]) -> int:
    """Adds the missing rest of a file to ``part``; returns the number of bytes received."""
    have = part.stat().st_size if part.exists() else 0
    mark = _mark_of(part)
    request = urllib.request.Request(url, headers={"User-Agent": f"tpbench/{__version__}"})
    if have and mark:
        request.add_header("Range", f"bytes={have}-")
        request.add_header("If-Range", mark)
    opener = urllib.request.build_opener(_Redirects)
    try:
        response = opener.open(request, timeout=_TIMEOUT_S)
    except urllib.error.HTTPError as problem:
        if problem.code == 416 and have:  # nothing is left to send, or the file became shorter
            if problem.headers.get("Content-Range", "").endswith(f"*/{have}"):
                return 0
            _forget(part)
            raise _BrokenOff("the file became shorter at the source") from problem
        raise
    with response:
        resumed = response.status == 206
        if resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            _forget(part)
            raise _BrokenOff("the server sent another part than was asked for")
        start = have if resumed else 0
        length = response.headers.get("Content-Length")
        total = start + int(length) if length is not None and length.isdecimal() else None
        if total is not None and total > MAX_BYTES:
            raise BadInput(f"has {total} bytes, more than {MAX_BYTES}", file=url)
        _write_mark(part, response.headers.get("ETag") or response.headers.get("Last-Modified"))
        with part.open("ab" if resumed else "wb") as handle:
            return _copy(response, handle, start, total, url, progress)


def _copy(
    response: Any, handle: IO[bytes], start: int, total: int | None, url: str, progress: Callable[[str], None]
) -> int:
    done = start
    try:
        while chunk := response.read(_CHUNK):
            handle.write(chunk)
            done += len(chunk)
            if done > MAX_BYTES:
                raise BadInput(f"sends more than {MAX_BYTES} bytes", file=url)
            progress(f"{url.rsplit('/', 1)[-1]}: {done / 1e6:.0f} MB" + (f" of {total / 1e6:.0f}" if total else ""))
    except http.client.IncompleteRead as problem:
        handle.write(problem.partial)
        done += len(problem.partial)
    if total is not None and done < total:
        raise _BrokenOff(f"the connection ended after {done} of {total} bytes")
    return done - start


def _mark_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _mark_of(part: Path) -> str | None:
    """What the server called the content that ``part`` was begun with: a strong ETag or a date."""
    try:
        mark = json.loads(_mark_file(part).read_text(encoding="utf-8"))["mark"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return mark if isinstance(mark, str) and not mark.startswith("W/") else None


def _write_mark(part: Path, mark: str | None) -> None:
    _mark_file(part).write_text(json.dumps({"mark": mark}), encoding="utf-8")


def _forget(part: Path) -> None:
    part.unlink(missing_ok=True)
    _mark_file(part).unlink(missing_ok=True)
