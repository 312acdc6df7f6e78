"""A small Hub on the loopback interface: as much of its protocol as the real client needs for datasets.

It keeps repositories in memory, counts every request, and can be told to fail: `fail` makes the next requests that
match answer with a status, drop the connection, or send half a body.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

WRITER, READER = "hf_writer", "hf_reader"
"""The two tokens it knows: one may write to the organisation ``lab``, the other may only read."""

ORGANISATION = "lab"
_LARGE = (".parquet", ".bin")
_SHA = re.compile(r"[0-9a-f]{40}")
Action = Literal["status", "drop", "half", "wrong"]


@dataclass
class Blob:
    """A file of a commit: its bytes, and whether it lies in the large-file store."""

    data: bytes
    large: bool

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def oid(self) -> str:
        stored = self.data
        if self.large:
            text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.sha256}\nsize {len(self.data)}\n"
            stored = text.encode()
        return hashlib.sha1(b"blob %d\0" % len(stored) + stored).hexdigest()

    def node(self, path: str) -> dict[str, Any]:
        """The file as a listing shows it."""
        found: dict[str, Any] = {"type": "file", "oid": self.oid, "size": len(self.data), "path": path}
        if self.large:
            found["lfs"] = {"oid": self.sha256, "size": len(self.data), "pointerSize": 130}
        return found


@dataclass
class Repository:
    """One dataset repository."""

    private: bool = False
    commits: dict[str, dict[str, Blob]] = field(default_factory=dict)
    head: str = ""
    tags: dict[str, str] = field(default_factory=dict)

    def commit(self, files: dict[str, Blob], message: str) -> str:
        """Adds a commit to the branch and returns its name."""
        text = json.dumps([self.head, message, len(self.commits), {path: blob.oid for path, blob in files.items()}])
        self.head = hashlib.sha1(text.encode()).hexdigest()
        self.commits[self.head] = files
        return self.head

    def resolve(self, revision: str) -> str | None:
        """The commit of a branch, tag or commit."""
        if revision == "main":
            return self.head
        return self.tags.get(revision) or (revision if revision in self.commits else None)


@dataclass
class Fault:
    """What goes wrong: for requests whose method and path match, so many times, after so many that go well."""

    method: str
    path: str
    action: Action
    status: int = 500
    times: int = 1
    after: int = 0
    headers: dict[str, str] = field(default_factory=dict)


class Hub:
    """The state of the server.

    Attributes:
        url: Its address.
        repositories: Id -> repository.
        large: SHA-256 -> content of the large-file store.
        requests: Every request as ``METHOD path``, in order.
        faults: What is still to go wrong.
        spoil: Path of a file of which the next commits store other bytes than were sent.
    """

    def __init__(self) -> None:
        self.url = ""
        self.repositories: dict[str, Repository] = {}
        self.large: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.faults: list[Fault] = []
        self.spoil = ""
        self.lock = threading.RLock()

    def fail(self, method: str, path: str, action: Action, **options: Any) -> None:
        """Lets matching requests fail; ``path`` is a regular expression."""
        self.faults.append(Fault(method, path, action, **options))

    def counts(self) -> dict[str, int]:
        """Number of requests by method."""
        return dict(Counter(request.split()[0] for request in self.requests))

    def fault_for(self, method: str, path: str) -> Fault | None:
        """The fault that hits a request, counted down."""
        with self.lock:
            for fault in self.faults:
                if fault.times > 0 and method == fault.method and re.search(fault.path, path):
                    if fault.after > 0:
                        fault.after -= 1
                        continue
                    fault.times -= 1
                    return fault
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *arguments: object) -> None:
        """Nothing: requests are counted instead."""

    def do_GET(self) -> None:
        self._answer("GET")

    def do_HEAD(self) -> None:
        self._answer("HEAD")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_PUT(self) -> None:
        self._answer("PUT")

    def _answer(self, method: str) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = self._chunks()
        else:
            body = self.rfile.read(length)
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        with self.hub.lock:
            self.hub.requests.append(f"{method} {path}")
        fault = self.hub.fault_for(method, path)
        self.half = fault is not None and fault.action == "half"
        self.wrong = fault is not None and fault.action == "wrong"
        if fault is not None and fault.action == "drop":
            self._close()
            return
        if fault is not None and fault.action == "status":
            self._json({"error": f"the test wants {fault.status}"}, fault.status, fault.headers)
            return
        with self.hub.lock:
            self._route(method, path, parse_qs(parts.query), body)

    def _chunks(self) -> bytes:
        data = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _close(self) -> None:
        self.close_connection = True
        self.connection.close()

    def _json(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self._send(json.dumps(value).encode(), status, {"Content-Type": "application/json", **(headers or {})})

    def _send(self, data: bytes, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data[: len(data) // 2] if self.half else data)
        if self.half:
            self.wfile.flush()
            self._close()

    def _error(self, status: int, code: str, message: str) -> None:
        self._json({"error": message}, status, {"X-Error-Code": code, "X-Error-Message": message})

    def _token(self) -> str | None:
        return (self.headers.get("authorization") or "").removeprefix("Bearer ") or None

    def _may_write(self) -> bool:
        token = self._token()
        if token not in (WRITER, READER):
            self._json({"error": "Invalid username or password."}, 401)
            return False
        if token != WRITER:
            self._json({"error": "You don't have the rights to write"}, 403)
            return False
        return True

    def _route(self, method: str, path: str, query: dict[str, list[str]], body: bytes) -> None:
        if path == "/api/validate-yaml":
            return self._json({"errors": [], "warnings": []})
        if path == "/api/repos/create":
            return self._create(json.loads(body))
        if match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)(?:/(.+))?", path):
            return self._api(method, match[1], match[2] or "revision/main", body)
        if match := re.fullmatch(r"/datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch", path):
            return self._batch(json.loads(body))
        if match := re.fullmatch(r"/large/([0-9a-f]{64})", path):
            return self._store(match[1], body)
        if match := re.fullmatch(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            return self._resolve(*match.groups())
        return self._error(404, "EntryNotFound", "no such address")

    def _repository(self, repo_id: str) -> Repository | None:
        repository = self.hub.repositories.get(repo_id)
        if repository is None or (repository.private and self._token() not in (WRITER, READER)):
            self._error(404 if self._token() else 401, "RepoNotFound", "Repository not found")
            return None
        return repository

    def _create(self, wanted: dict[str, Any]) -> None:
        if not self._may_write():
            return None
        repo_id = f"{wanted['organization']}/{wanted['name']}"
        if wanted["organization"] != ORGANISATION:
            return self._json({"error": "You don't have the rights to create a dataset here"}, 403)
        url = f"{self.hub.url}/datasets/{repo_id}"
        if repo_id in self.hub.repositories:
            return self._json({"error": "You already created this dataset repo", "url": url}, 409)
        repository = self.hub.repositories[repo_id] = Repository(private=wanted.get("visibility") == "private")
        repository.commit({".gitattributes": Blob(b"*.parquet filter=lfs\n", False)}, "initial commit")
        return self._json({"url": url, "id": "0", "name": repo_id})

    def _api(self, method: str, repo_id: str, rest: str, body: bytes) -> None:
        repository = self._repository(repo_id)
        if repository is None:
            return None
        verb, _, argument = rest.partition("/")
        if method == "POST" and verb in ("preupload", "commit", "tag") and not self._may_write():
            return None
        if verb == "refs":
            main = {"name": "main", "ref": "refs/heads/main", "targetCommit": repository.head}
            tags = [{"name": n, "ref": f"refs/tags/{n}", "targetCommit": c} for n, c in repository.tags.items()]
            return self._json({"branches": [main], "converts": [], "tags": tags})
        if verb == "preupload":
            files = json.loads(body)["files"]
            modes = [
                {"path": f["path"], "uploadMode": "lfs" if f["path"].endswith(_LARGE) else "regular",
                 "shouldIgnore": False, "oid": None}
                for f in files
            ]  # fmt: skip
            return self._json({"files": modes})
        if verb == "commit":
            return self._commit(repo_id, repository, body)
        revision, _, inner = argument.partition("/") if verb == "tree" else (argument, "", "")
        commit = repository.resolve(revision)
        if commit is None:
            return self._error(404, "RevisionNotFound", f"Invalid rev id: {argument}")
        files = repository.commits[commit]
        if verb == "revision":
            siblings = [{"rfilename": path} for path in sorted(files)]
            return self._json({"id": repo_id, "sha": commit, "private": repository.private, "siblings": siblings})
        if verb == "tree":
            return self._tree(files, inner)
        if verb == "paths-info":
            wanted = json.loads(body)["paths"] if body.startswith(b"{") else parse_qs(body.decode())["paths"]
            return self._json(self._paths(files, wanted))
        if verb == "tag":
            name = json.loads(body)["tag"]
            if name in repository.tags:
                return self._json({"error": f"Tag {name} already exists"}, 409)
            repository.tags[name] = commit
            return self._json({})
        return self._error(404, "EntryNotFound", "no such address")

    def _tree(self, files: dict[str, Blob], inner: str) -> None:
        nodes = [blob.node(path) for path, blob in sorted(files.items()) if not inner or path.startswith(f"{inner}/")]
        folders = {"/".join(path.split("/")[:n]) for path in files for n in range(1, path.count("/") + 1)}
        nodes += [{"type": "directory", "oid": "0" * 40, "size": 0, "path": path} for path in sorted(folders)
                  if not inner or path.startswith(f"{inner}/")]  # fmt: skip
        if inner and not nodes:
            return self._error(404, "EntryNotFound", f"{inner} does not exist")
        return self._json(nodes)

    def _paths(self, files: dict[str, Blob], wanted: list[str]) -> list[dict[str, Any]]:
        found = []
        for path in wanted:
            if path in files:
                found.append(files[path].node(path))
            elif any(known.startswith(f"{path}/") for known in files):
                found.append({"type": "directory", "oid": "0" * 40, "size": 0, "path": path})
        return found

    def _commit(self, repo_id: str, repository: Repository, body: bytes) -> None:
        lines = [json.loads(line) for line in body.splitlines() if line]
        header = lines[0]["value"]
        if header.get("parentCommit") not in (None, repository.head):
            return self._json({"error": "The parent commit is not the head of the branch"}, 412)
        files = dict(repository.commits[repository.head])
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = Blob(base64.b64decode(value["content"]), False)
            elif line["key"] == "lfsFile":
                if value["oid"] not in self.hub.large:
                    return self._json({"error": "a large file was not uploaded"}, 400)
                files[value["path"]] = Blob(self.hub.large[value["oid"]], True)
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        if self.hub.spoil in files:
            files[self.hub.spoil] = Blob(b"spoilt", files[self.hub.spoil].large)
        oid = repository.commit(files, header["summary"])
        url = f"{self.hub.url}/datasets/{repo_id}/commit/{oid}"
        if self.hub.fault_for("COMMITTED", oid):
            # The commit is written, and its answer is lost.
            return self._close()
        return self._json({"success": True, "commitOid": oid, "commitUrl": url})

    def _batch(self, wanted: dict[str, Any]) -> None:
        if not self._may_write():
            return None
        objects: list[dict[str, Any]] = []
        for found in wanted["objects"]:
            made = {"oid": found["oid"], "size": found["size"]}
            if found["oid"] not in self.hub.large:
                made["actions"] = {"upload": {"href": f"{self.hub.url}/large/{found['oid']}", "header": {}}}
            objects.append(made)
        return self._json({"transfer": "basic", "objects": objects})

    def _store(self, sha256: str, body: bytes) -> None:
        if hashlib.sha256(body).hexdigest() != sha256:
            return self._json({"error": "other bytes than announced"}, 400)
        self.hub.large[sha256] = body
        return self._send(b"")

    def _resolve(self, repo_id: str, revision: str, path: str) -> None:
        repository = self._repository(repo_id)
        if repository is None:
            return None
        commit = repository.resolve(revision)
        if commit is None:
            return self._error(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        blob = repository.commits[commit].get(path)
        if blob is None:
            headers = {"X-Repo-Commit": commit, "X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"}
            return self._json({"error": "Entry not found"}, 404, headers)
        etag = blob.sha256 if blob.large else blob.oid
        headers = {
            "X-Repo-Commit": commit, "ETag": f'"{etag}"', "X-Linked-ETag": f'"{etag}"',
            "X-Linked-Size": str(len(blob.data)), "Accept-Ranges": "bytes",
        }  # fmt: skip
        data = bytes(reversed(blob.data)) if self.wrong else blob.data
        if match := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or ""):
            start, end = int(match[1]), int(match[2] or len(data) - 1)
            headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
            return self._send(data[start : end + 1], 206, headers)
        return self._send(data, 200, headers)


@contextmanager
def loopback_hub() -> Iterator[Hub]:
    """Runs a server on a free port of the loopback interface until the block ends."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
