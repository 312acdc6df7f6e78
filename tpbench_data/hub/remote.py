"""One dataset repository on a Hub, through the real client: retries in one place, errors in our words.

What is worth another try is tried again (429 and 5xx, a dropped connection); what is not (401, 403, 404, 409) ends
at once. The token comes from the environment (``HF_TOKEN``) or the Hub's own login and is never stored or printed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tpbench_data.errors import BadInput, TPBenchError

T = TypeVar("T")

ATTEMPTS = 5
FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
REPO_TYPE = "dataset"

_RETRY = {408, 429, 500, 502, 503, 504}


class HubError(TPBenchError, ConnectionError):
    """The Hub could not be reached, or did not do what was asked.

    Args:
        text: What, where, why and what to do.
        status: The HTTP status it answered with, ``None`` where there was no answer.
        retry_after: The header that says how long to wait.
    """

    def __init__(self, text: str, status: int | None = None, retry_after: str | None = None) -> None:
        super().__init__(text)
        self.status, self.retry_after = status, retry_after

    def __str__(self) -> str:
        return str(self.args[0])


class Moved(HubError):
    """The repository changed between looking at it and writing to it."""


class NotThere(HubError):
    """No such repository, revision or file, as far as the token may see."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a commit.

    Attributes:
        path: Its path.
        size: Bytes.
        sha256: Of the content, where the Hub stores it as a large file, else ``None``.
        blob_id: Git's name for a small file (SHA-1 over a header and the content).
    """

    path: str
    size: int
    sha256: str | None
    blob_id: str


class Remote:
    """A dataset repository.

    Args:
        repo_id: ``ORGANISATION/NAME``.
        endpoint: Address of the Hub; ``None`` = ``HF_ENDPOINT`` or huggingface.co.
        say: Called with a line of text when something takes longer.

    Raises:
        BadInput: Not a repository id.
    """

    def __init__(
        self, repo_id: str, endpoint: str | None = None, say: Callable[[str], None] = lambda text: None
    ) -> None:
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HFValidationError
        from huggingface_hub.utils._validators import validate_repo_id
        from huggingface_hub.utils.tqdm import disable_progress_bars

        try:
            validate_repo_id(repo_id)
        except HFValidationError as problem:
            reason = " ".join(str(problem).split())
            raise BadInput(f"{repo_id!r} is not a repository id ({reason})", remedy="Write ORGANISATION/NAME") from None
        if not sys.stderr.isatty():
            disable_progress_bars()
        self.repo_id, self.say = repo_id, say
        self.api = HfApi(endpoint=endpoint, library_name="tpbench")

    @property
    def url(self) -> str:
        """Where a person finds the repository."""
        return f"{self.api.endpoint}/datasets/{self.repo_id}"

    def head(self, revision: str) -> str | None:
        """The commit of a branch, tag or commit; ``None`` where repository or revision do not exist."""
        try:
            info = self._try(f"look up {revision}", self.api.repo_info, self.repo_id, repo_type=REPO_TYPE,
                             revision=revision, timeout=30)  # fmt: skip
        except NotThere:
            return None
        return str(info.sha)

    def exists(self) -> bool:
        """Whether the repository is there and can be seen."""
        return bool(self._try("look for the repository", self.api.repo_exists, self.repo_id, repo_type=REPO_TYPE))

    def create(self, private: bool) -> None:
        """Makes the repository where it is not there; an existing one keeps its visibility."""
        self._try("create the repository", self.api.create_repo, self.repo_id, repo_type=REPO_TYPE,
                  private=private, exist_ok=True)  # fmt: skip

    def tags(self) -> dict[str, str]:
        """Tag -> commit."""
        refs = self._try("list the tags", self.api.list_repo_refs, self.repo_id, repo_type=REPO_TYPE)
        return {ref.name: ref.target_commit for ref in refs.tags}

    def files(self, commit: str) -> dict[str, RemoteFile]:
        """Path -> file of a commit."""
        from huggingface_hub.hf_api import RepoFile

        def listing() -> list[Any]:
            return list(self.api.list_repo_tree(self.repo_id, repo_type=REPO_TYPE, revision=commit, recursive=True))

        found = self._try("list the files", listing)
        return {
            node.path: RemoteFile(node.path, node.size, node.lfs.sha256 if node.lfs else None, node.blob_id)
            for node in found
            if isinstance(node, RepoFile)
        }

    def commit(self, message: str, add: Sequence[tuple[str, Path]], delete: Iterable[str], parent: str | None) -> str:
        """Writes one commit on ``main`` and returns it.

        Args:
            message: One line.
            add: Path in the repository, file on disk.
            delete: Paths to remove.
            parent: The commit it must follow.

        Raises:
            Moved: Another commit came in between (409, 412).
            HubError: It could not be written.
        """
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        operations = [CommitOperationAdd(path_in_repo=path, path_or_fileobj=str(file)) for path, file in add]
        gone = [CommitOperationDelete(path_in_repo=path) for path in delete]
        info = self._once("write the commit", self.api.create_commit, self.repo_id, [*operations, *gone],
                          commit_message=message, repo_type=REPO_TYPE, parent_commit=parent)  # fmt: skip
        return str(info.oid)

    def tag(self, name: str, commit: str, message: str) -> None:
        """Tags a commit; raises `Moved` where the tag is there already (it is never moved)."""
        self._try("create the tag", self.api.create_tag, self.repo_id, tag=name, tag_message=message,
                  revision=commit, repo_type=REPO_TYPE)  # fmt: skip

    def download(self, path: str, commit: str, folder: Path) -> Path:
        """Downloads one file of a commit below ``folder``, going on where an interrupted download stopped."""
        # The client itself tries several times and goes on where a connection broke.
        found = self._once(f"download {path}", self.api.hf_hub_download, self.repo_id, path, repo_type=REPO_TYPE,
                          revision=commit, local_dir=folder)  # fmt: skip
        return Path(found)

    def cached(self, path: str, commit: str) -> Path:
        """One file of a commit in the client's own cache, downloaded where it is not there yet."""
        found = self._once(f"download {path}", self.api.hf_hub_download, self.repo_id, path, repo_type=REPO_TYPE,
                           revision=commit)  # fmt: skip
        return Path(found)

    def _try(self, what: str, call: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Calls the client, with waits and further tries where that may help."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._once(what, call, *arguments, **options)
            except HubError as problem:
                wait = pause(problem, attempt)
                if wait is None or attempt == ATTEMPTS:
                    raise
                self.say(f"{problem} Trying again in {wait:g} s.")
                time.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _once(self, what: str, call: Callable[..., T], *arguments: Any, **options: Any) -> T:
        from httpx import HTTPError
        from huggingface_hub.errors import HfHubHTTPError

        try:
            return call(*arguments, **options)
        except HfHubHTTPError as problem:
            raise self._refused(what, problem) from problem
        except (HTTPError, OSError, RuntimeError, ValueError) as problem:
            raise self._failed(what, problem) from problem

    def _refused(self, what: str, problem: Any) -> HubError:
        """The error for an answer that is not the wanted one."""
        status = problem.response.status_code
        said = " ".join(str(problem.server_message or "").split())[:200]
        place = f"{self.url}: cannot {what}: the Hub answered {status}{f' ({said})' if said else ''}"
        kind: type[HubError] = HubError
        advice = ""
        if status == 401:
            advice = (
                " Log in with `hf auth login`, or set HF_TOKEN to a valid token; without one, a repository that is "
                "private and one that is not there look the same."
            )
        elif status == 403:
            advice = f" The token may not do this: use one that has access to {self.repo_id}, to publish write access."
        elif status == 404:
            kind, advice = NotThere, " Check the names; a private repository is hidden from those who may not see it."
        elif status in (409, 412):
            kind, advice = Moved, " It was changed at the same time: look at it and run the same command again."
        elif status in _RETRY:
            advice = " Run the same command again later: what was uploaded is kept."
        return kind(f"{place}.{advice}", status, problem.response.headers.get("Retry-After"))

    def _failed(self, what: str, problem: Exception) -> HubError:
        """The error for a call that got no answer, or whose parts failed."""
        from huggingface_hub.errors import HfHubHTTPError

        cause: BaseException | None = problem
        while cause is not None:
            if isinstance(cause, HfHubHTTPError):
                return self._refused(what, cause)
            cause = cause.__cause__
        reason = " ".join(str(problem).split())[:200] or type(problem).__name__
        return HubError(
            f"{self.url}: cannot {what}: {reason}. Check the connection and run the same command again: what was "
            "uploaded is kept."
        )


def pause(problem: HubError, attempt: int) -> float | None:
    """Seconds to wait after the given attempt, ``None`` where another one would not help.

    As long as the Hub asks for, else 1, 2, 4... seconds, at most a minute.
    """
    if problem.status is not None and problem.status not in _RETRY:
        return None
    try:
        asked = float(problem.retry_after or 0)
    except ValueError:
        asked = 0.0
    return min(max(asked, FIRST_WAIT * (1 << (attempt - 1))), LONGEST_WAIT)
