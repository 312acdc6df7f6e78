"""Every method by name: the selectors of `tpbench_data`, those that run a model, and third parties' own.

A third party adds a method by an entry point of the group ``tpbench.methods`` (name = class), or names a file on the
command line: ``my_file.py:MyMethod``. Importing this module loads no model library.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, is_dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from tpbench_data.canonical import sha256_hex
from tpbench_data.errors import BadInput
from tpbench_data.names import METHOD_LABELS, method_rank
from tpbench_data.selectors import SELECTORS, ScoredSelector, Selector
from tpbench_data.selectors.settings import check_setting_types, make_method, parse_method, print_value, setting_fields
from tpbench_generate.kv import KV_METHODS, KVMethod
from tpbench_generate.selectors import MODEL_SELECTORS

ENTRY_POINTS = "tpbench.methods"
BUILT_IN: dict[str, type[Selector]] = dict(
    sorted((SELECTORS | MODEL_SELECTORS).items(), key=lambda pair: method_rank(pair[0]))
)
"""The methods of this package, in table order."""

_NAME = re.compile(r"[a-z0-9_]{1,60}")
_FILE = re.compile(r"(.+\.py):([A-Za-z_]\w*)\s*(?:\((.*)\))?", re.DOTALL)


@dataclass(frozen=True)
class ThirdParty:
    """The methods of other distributions.

    Attributes:
        classes: Name -> class.
        origins: Name -> the distribution and its version.
        broken: Entry point -> why it cannot be used.
    """

    classes: Mapping[str, type[Selector]]
    origins: Mapping[str, str]
    broken: Mapping[str, str]


@dataclass(frozen=True)
class LoadedMethod:
    """A method with its settings, and where its code comes from (for the manifest; empty for this package's own)."""

    selector: Selector
    origin: Mapping[str, str]


def load_method(text: str) -> LoadedMethod:
    """The method of a command line: ``name``, ``name(setting=value)`` or ``my_file.py:MyMethod(setting=value)``.

    Raises:
        BadInput: Unknown method or setting, or code that does not hold a usable method.
    """
    from_file = _FILE.fullmatch(text.strip())
    if from_file is not None:
        path, class_name, inside = from_file.groups()
        kind = _class_in_file(Path(path), class_name)
        origin = {"file": Path(path).name, "sha256": sha256_hex(Path(path).read_bytes()), "class": class_name}
        return LoadedMethod(make_method(kind, inside or ""), origin)
    found = third_party()
    name = text.partition("(")[0].strip()
    if name in found.broken:
        raise BadInput(f"method {name!r} cannot be used ({found.broken[name]})")
    selector = parse_method(text, BUILT_IN | dict(found.classes))
    origin = {"distribution": found.origins[selector.name]} if selector.name in found.origins else {}
    return LoadedMethod(selector, origin)


@cache
def third_party() -> ThirdParty:
    """The methods that installed distributions offer; one that cannot be used does not hide the others."""
    classes: dict[str, type[Selector]] = {}
    origins: dict[str, str] = {}
    broken: dict[str, str] = {}
    for entry in sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda entry: (entry.name, entry.value)):
        origin = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown"
        try:
            kind = entry.load()
            check_method_class(kind, f"{entry.value} of {origin}")
            if kind.name != entry.name:
                raise BadInput(f"entry point {entry.name!r} names a method that calls itself {kind.name!r}")
            if kind.name in classes:
                raise BadInput(f"{origins[kind.name]} has a method {kind.name!r}, too")
        except Exception as problem:  # other people's code; it is told, and the rest goes on
            broken[entry.name] = f"{origin}: {_first_line(problem)}"
            continue
        classes[kind.name], origins[kind.name] = kind, origin
    return ThirdParty(classes, origins, broken)


def check_method_class(kind: object, what: str) -> None:
    """Whether a class is a method that can be used, printed and read back.

    Args:
        kind: What was found.
        what: Where, for the message.

    Raises:
        BadInput: It is none; says what is missing.
    """
    if not (inspect.isclass(kind) and issubclass(kind, Selector)):
        raise BadInput(
            f"{what} is not a method", remedy="Derive it from tpbench_data.selectors.Selector or ScoredSelector"
        )
    if inspect.isabstract(kind):
        needed = ", ".join(sorted(kind.__abstractmethods__))
        raise BadInput(f"{what} does not define {needed}")
    parameters = vars(kind).get("__dataclass_params__")
    if not is_dataclass(kind) or parameters is None or not parameters.frozen:
        raise BadInput(f"{what} is not a frozen dataclass", remedy="Write @dataclass(frozen=True) above the class")
    name, summary = getattr(kind, "name", None), getattr(kind, "summary", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadInput(f"{what} has no usable name", field="name", remedy="Use letters a-z, digits and _")
    if name in METHOD_LABELS:
        raise BadInput(f"{what} takes the name {name!r}, which is a method of tpbench", field="name")
    if not isinstance(summary, str) or not summary.strip() or "\n" in summary:
        raise BadInput(f"{what} has no summary", field="summary", remedy="Say in one line what is kept")
    without = [
        field for field, given in setting_fields(kind).items() if given.default is given.default_factory is MISSING
    ]
    if without:
        raise BadInput(f"setting {without[0]!r} of {what} has no default", remedy="Give every setting a default value")
    check_setting_types(kind)


def describe(kind: type[Selector], origin: str) -> dict[str, Any]:
    """What `tpbench-generate methods` tells of a class, as plain data."""
    return {
        "name": kind.name,
        "kind": "scored selector" if issubclass(kind, ScoredSelector) else "selector",
        "summary": kind.summary,
        "paper": kind.paper,
        "needs_model": kind.needs_model,
        "adaptive": kind.size == "adaptive",
        "settings": {name: print_value(field.default) for name, field in setting_fields(kind).items()},
        "paper_protocol": {"budget": kind.published_budget, "rendering": kind.published_rendering},
        "from": origin,
    }


def describe_kv(kind: type[KVMethod]) -> dict[str, Any]:
    """Likewise of a cache method, which a run takes as ``--kv``."""
    return {
        "name": kind.name,
        "kind": "cache method",
        "summary": kind.summary,
        "paper": kind.paper,
        "needs_model": True,
        "adaptive": False,
        "settings": {name: print_value(field.default) for name, field in setting_fields(kind).items()},
        "paper_protocol": None,
        "from": "tpbench, through kvpress",
    }


def list_methods() -> list[dict[str, Any]]:
    """Every method as plain data: this package's in table order, cache methods, then third parties' by name."""
    found = third_party()
    own = [describe(kind, "tpbench") for kind in BUILT_IN.values()]
    cache_methods = [describe_kv(kind) for kind in KV_METHODS.values()]
    return own + cache_methods + [describe(kind, found.origins[name]) for name, kind in sorted(found.classes.items())]


def _class_in_file(path: Path, class_name: str) -> type[Selector]:
    if not path.is_file():
        raise BadInput("no such file", file=path, field="--method")
    module = _module_of(path)
    kind = getattr(module, class_name, None)
    if kind is None:
        here = [
            name
            for name, value in vars(module).items()
            if inspect.isclass(value) and issubclass(value, Selector) and value.__module__ == module.__name__
        ]
        raise BadInput(f"has no class {class_name}", file=path, remedy=f"Methods in it: {', '.join(here) or 'none'}")
    check_method_class(kind, f"{path}:{class_name}")
    checked: type[Selector] = kind
    return checked


def _module_of(path: Path) -> types.ModuleType:
    """The file as a module, loaded once per process under a name that no other file has."""
    data = path.read_bytes()
    name = f"tpbench_method_{path.stem}_{sha256_hex(str(path.resolve()).encode() + data)[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadInput("cannot be loaded as Python", file=path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and type hints look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as problem:  # a user's own code can fail in any way
        del sys.modules[name]
        raise BadInput(f"cannot be loaded: {_first_line(problem)}", file=path, row=_line_in(problem, path)) from problem
    return module


def _line_in(problem: BaseException, path: Path) -> int | None:
    if isinstance(problem, SyntaxError):
        return problem.lineno
    lines = (
        [frame.lineno for frame in inspect.getinnerframes(problem.__traceback__) if frame.filename == str(path)]
        if problem.__traceback__
        else []
    )
    return lines[-1] if lines else None


def _first_line(problem: BaseException) -> str:
    text = (str(problem).strip().splitlines() or [""])[0].rstrip(".")
    return text if isinstance(problem, BadInput) else f"{type(problem).__name__}: {text}"
