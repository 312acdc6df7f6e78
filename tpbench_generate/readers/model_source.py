"""Which model a reader name means, and how a failure to load it is told."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from tpbench_data.canonical import canonical_json, sha256_hex
from tpbench_data.errors import BadInput

_MODEL_FILES = {".json", ".jinja", ".model", ".txt", ".tiktoken", ".safetensors", ".bin", ".gguf"}
"""What a model folder's revision is computed from: everything transformers reads, no notes or training state."""

CPU_IS_FULL = "DefaultCPUAllocator"
"""What torch's error says where a CPU has no memory left; it is a plain RuntimeError."""


@dataclass(frozen=True)
class ModelSource:
    """Where a model is and what to call it.

    Attributes:
        reader: The name that the user typed.
        location: Folder or hub id that transformers loads.
        hub_revision: Branch, tag or commit for the hub; None = its default, and for a folder.
        model_id: What the `runs` row records.
        model_revision: Likewise; None = the commit that the hub resolved.
        slug: Short name for run ids.
        gguf_file: Name of the GGUF file in the folder ``location``, where the model is one.
    """

    reader: str
    location: str
    hub_revision: str | None
    model_id: str
    model_revision: str | None
    slug: str
    gguf_file: str | None = None


def find_model(reader: str) -> ModelSource:
    """Reads a name ``hf:<hub id, folder or GGUF file>[@revision]``.

    A GGUF file's revision is its hash. A folder's revision is a hash over its model files, so that a changed or moved
    model is told apart.

    Raises:
        BadInput: Nothing behind ``hf:``, or a path that is no model folder.
    """
    name = reader.removeprefix("hf:")
    folder = Path(name).expanduser()
    if folder.suffix == ".gguf" and folder.is_file():
        revision = f"gguf-sha256:{file_sha256(folder)}"
        return ModelSource(reader, str(folder.parent), None, folder.name, revision, make_slug(folder.stem), folder.name)
    if name and folder.is_dir():
        if not (folder / "config.json").is_file():
            raise BadInput("not a transformers model folder: it has no config.json", file=folder)
        base = folder.resolve().name
        return ModelSource(reader, str(folder), None, base, folder_revision(folder), make_slug(base))
    if not name or name.startswith((".", "/", "~", os.sep)):
        raise BadInput("no such model folder", file=name or None, field="--reader")
    model_id, _, revision = name.partition("@")
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", model_id):
        raise BadInput(
            f"'{model_id}' is neither a folder nor a Hugging Face model id",
            field="--reader",
            remedy="Write hf:ORG/MODEL, hf:ORG/MODEL@REVISION or hf:./FOLDER",
        )
    return ModelSource(reader, model_id, revision or None, model_id, None, make_slug(model_id.rsplit("/")[-1]))


def make_slug(name: str) -> str:
    """The name from [a-z0-9._-] only, at most 60 characters."""
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-.")[:60] or "model"


def folder_revision(folder: Path) -> str:
    """``files-sha256:`` and a hash over the names and contents of a model folder's files."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix in _MODEL_FILES)
    return f"files-sha256:{sha256_hex(canonical_json([[path.name, file_sha256(path)] for path in files]))}"


def file_sha256(path: Path) -> str:
    """SHA-256 of a file of any size, as 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def explain_failure(problem: BaseException, source: ModelSource) -> BadInput:
    """What to tell the user when transformers could not load a model."""
    kinds = set()
    cause: BaseException | None = problem
    while cause is not None:
        kinds.add(type(cause).__name__)
        cause = cause.__cause__ or cause.__context__
    where = source.location + (f"@{source.hub_revision}" if source.hub_revision else "")
    text = (str(problem).strip() or type(problem).__name__).splitlines()[0].rstrip(".")
    if "trust_remote_code" in str(problem):
        return BadInput(
            f"model {where} needs code of its own, which tpbench does not run",
            remedy="Choose a model that transformers supports itself",
        )
    if "GatedRepoError" in kinds:
        return BadInput(
            f"model {where} is gated",
            remedy="Accept its licence on its Hugging Face page and log in with `hf auth login`",
        )
    if kinds & {"OutOfMemoryError", "MemoryError"} or CPU_IS_FULL in str(problem):
        return BadInput(
            f"model {where} does not fit into memory",
            remedy="Choose a smaller model, another --device, or --dtype bfloat16",
        )
    if "RevisionNotFoundError" in kinds:
        return BadInput(f"model {source.location} has no revision '{source.hub_revision}'")
    if "RepositoryNotFoundError" in kinds:
        return BadInput(
            f"there is no model {where} on the Hugging Face Hub, or it is private",
            remedy="Check the name, or log in with `hf auth login`",
        )
    if kinds & {"ConnectionError", "ConnectError", "LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectTimeout"}:
        return BadInput(
            f"model {where} is not in the local cache and the Hugging Face Hub cannot be reached",
            remedy="Connect to the network, or give a model folder: hf:./FOLDER",
        )
    return BadInput(f"model {where} cannot be loaded: {text}")
