"""The models behind selectors: what a `model` setting means, and its pinned form, which is stored with every input.

A setting is a short name (`minilm-l6-v2`, `smollm2-135m`, `llmlingua2-published`) or `hf:` with a hub id or a local
folder, each optionally with `@REVISION`. The pinned form always has the revision, so it says which weights were used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from tpbench_data.errors import BadInput
from tpbench_generate.readers.model_source import ModelSource, explain_failure, find_model
from tpbench_generate.readers.smollm2 import NAME as SMOLLM2
from tpbench_generate.readers.smollm2 import find_smollm2
from tpbench_generate.selectors.minilm import NAME as MINILM
from tpbench_generate.selectors.minilm import find_minilm

LLMLINGUA2 = "llmlingua2-published"
_LLMLINGUA2_HUB = (
    "hf:microsoft/llmlingua-2-xlm-roberta-large-meetingbank@ebaba9b0e874dadd3003ffcff828e4397e568089"  # spec 5
)
_FOLDER_REVISION = "files-sha256:"
_COMMIT = re.compile(r"[0-9a-f]{40}")

_SHORT: dict[str, Callable[[], ModelSource]] = {
    MINILM: find_minilm,
    SMOLLM2: find_smollm2,
    LLMLINGUA2: lambda: find_model(_LLMLINGUA2_HUB),
}


@cache
def find(name: str) -> ModelSource:
    """Where the model of a setting is.

    Raises:
        BadInput: Unknown name, no such folder, or a folder or package with another revision than the one named.
    """
    base, _, revision = name.partition("@")
    if base in _SHORT:
        source = _SHORT[base]()
        _check_revision(source, revision, name)
        return source
    if not name.startswith("hf:"):
        known = ", ".join([*_SHORT, "hf:ORG/MODEL[@REVISION]", "hf:./FOLDER"])
        raise BadInput(f"there is no model '{name}'", field="model", remedy=f"Known: {known}")
    if revision.startswith(_FOLDER_REVISION):
        folder = base if "/" in base else base.replace("hf:", "hf:./", 1)
        source = find_model(folder)
        _check_revision(source, revision, name)
        return source
    return find_model(name)


@cache
def pinned_name(name: str) -> str:
    """The setting with the revision of its weights: a commit of the hub or a hash over the files.

    Raises:
        BadInput: As `find`, or the hub cannot be asked for the commit of a branch.
    """
    source = find(name)
    base = name.partition("@")[0]
    if base in _SHORT and source.model_revision is not None:
        return f"{base}@{source.model_revision}"
    return f"hf:{source.model_id}@{source.model_revision or commit(source)}"


def commit(source: ModelSource) -> str:
    """The commit of a hub model: the one named, or the one that its branch or tag points to now."""
    if source.hub_revision and _COMMIT.fullmatch(source.hub_revision):
        return source.hub_revision
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(
            source.location, revision=source.hub_revision or "main", trust_remote_code=False
        )
    except Exception as problem:
        raise explain_failure(problem, source) from problem
    found = getattr(config, "_commit_hash", None)
    if not found:
        raise BadInput(f"the revision of model {source.location} cannot be found out", remedy="Name it: hf:ID@COMMIT")
    return str(found)


def pinned_source(name: str) -> ModelSource:
    """The source of a setting with the hub revision fixed to a commit."""
    source = find(name)
    return source if source.model_revision else replace(source, hub_revision=commit(source))


def _check_revision(source: ModelSource, revision: str, name: str) -> None:
    found = source.model_revision or source.hub_revision
    if revision and revision != found:
        raise BadInput(
            f"model {name}: what is here has the revision {found}",
            field="model",
            remedy="Use the weights of that revision, or leave the revision out",
        )
