"""The shape of the facts in a manifest: what every reader of a release may rely on.

Facts that this version does not know are left alone; those of `_ALLOWED` and `_CORPUS_ALLOWED` may be absent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tpbench_data.errors import BadInput

_MAX_TEXT = 20_000


def _text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _MAX_TEXT


def _whole(value: Any) -> bool:
    return type(value) is int


def _number(value: object) -> bool:
    return type(value) in (int, float)


def _list_of(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(test(item) for item in value)


def _texts_by_name(value: object) -> bool:
    return isinstance(value, dict) and all(_text(item) for item in value.values())


def _optional(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or test(value)


_Tests = Mapping[str, tuple[Callable[[Any], bool], str]]

_NEEDED: _Tests = {
    "release": (_text, "a text"),
    "builder": (_text, "a text"),
    "corpora": (lambda value: isinstance(value, dict), "an object"),
    "value_rule": (_optional(_text), "a text"),
    "seeds": (_list_of(_whole), "a list of whole numbers"),
    "n": (_optional(_whole), "a whole number"),
    "ratios": (_list_of(_number), "a list of numbers"),
    "methods": (_list_of(_text), "a list of texts"),
    "protocols": (_list_of(_text), "a list of texts"),
    "counts": (lambda value: isinstance(value, dict), "an object"),
}
_ALLOWED: _Tests = {
    "name": (_text, "a text"),
    "probes": (_list_of(_text), "a list of texts"),
    "templates": (_texts_by_name, "texts by name"),
    "date_published": (_optional(_text), "a text"),
    "homepage": (_optional(_text), "a text"),
}
_CORPUS: _Tests = {
    "title": (_text, "a text"),
    "licence": (_text, "a text"),
    "homepage": (_text, "a text"),
    "citation": (_text, "a text"),
    "files": (_whole, "a whole number"),
    "sha256": (_text, "a text"),
}
_CORPUS_ALLOWED: _Tests = {
    "language": (_text, "a text"),
    "version": (_optional(_text), "a text"),
    "revision": (_optional(_text), "a text"),
    "source": (_optional(_text), "a text"),
    "evidence": (_optional(_text), "a text"),
    "pool": (_optional(_text), "a text"),
    "turn_characters": (_optional(lambda value: _whole(value) and value > 0), "a number of characters"),
}


def check_facts(manifest: Mapping[str, Any], path: Path) -> None:
    """Raises BadInput, naming the field, where a fact is missing or has another form."""
    for tests, needed in ((_NEEDED, True), (_ALLOWED, False)):
        _check(manifest, tests, "", needed, path)
    for name, corpus in manifest["corpora"].items():
        if not isinstance(corpus, dict):
            raise BadInput("not an object", file=path, field=f"corpora.{name[:80]}")
        _check(corpus, _CORPUS, f"corpora.{name[:80]}.", True, path)
        _check(corpus, _CORPUS_ALLOWED, f"corpora.{name[:80]}.", False, path)


def _check(values: Mapping[str, Any], tests: _Tests, prefix: str, needed: bool, path: Path) -> None:
    for name, (test, form) in tests.items():
        if name not in values:
            if needed:
                raise BadInput("is missing", file=path, field=f"{prefix}{name}", remedy="Get the release again")
        elif not test(values[name]):
            raise BadInput(f"is not {form}", file=path, field=f"{prefix}{name}", remedy="Get the release again")
