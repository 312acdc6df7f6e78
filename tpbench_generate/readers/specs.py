"""What a reader's name stands for: a model, a served model, a preset, a reader file, or somebody else's class.

Importing this loads no model library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from importlib import metadata
from pathlib import Path
from typing import Any

from tpbench_data.errors import BadInput
from tpbench_generate.readers.base import Reader, ReaderOptions
from tpbench_generate.readers.packages import require_packages
from tpbench_generate.readers.presets import PRESETS
from tpbench_generate.readers.server import PREFIX as OPENAI
from tpbench_generate.readers.server import Server, parse_server

SMOLLM2 = "smollm2-135m"
TRANSFORMERS = "hf:"
ENTRY_POINTS = "tpbench.readers"
"""Third parties' readers: entry point name -> callable ``(argument, options) -> Reader``; used as ``NAME:ARGUMENT``."""

DEFAULT_BATCH_SIZE, SERVER_BATCH_SIZE = 8, 64
"""For a server a batch is what is saved together; its requests need not wait for one another's length."""

_MAX_FILE_BYTES = 1 << 20
_SERVER_KEYS = {entry.name for entry in fields(Server)}
_OPTION_KEYS = {entry.name for entry in fields(ReaderOptions)}

READERS: dict[str, str] = {
    SMOLLM2: "SmolLM2-135M-Instruct from the package registry; 0.5 GB on disk, runs on any CPU",
    "hf:MODEL[@REVISION]": "a causal language model: Hugging Face id (ORG/NAME), local folder or GGUF file (./NAME)",
    "openai:MODEL[@URL]": "a model behind an OpenAI-compatible server, such as openai:MODEL@http://localhost:8000/v1",
    "FILE.yaml": "a reader file: backend, model and options; see docs/generation.md",
    **{name: preset.summary for name, preset in PRESETS.items()},
}
"""What `tpbench-generate readers` lists: name -> one line."""


@dataclass(frozen=True)
class ReaderSpec:
    """A reader, not yet opened.

    Attributes:
        name: What the `runs` row calls it.
        model: ``smollm2-135m`` or ``hf:…``; "" for the other kinds.
        server: Where it is served, else None.
        plugin: Opens somebody else's reader, else None.
        defaults: Fields of `ReaderOptions` that hold unless the user says otherwise.
        batch_size: Most prompts of a batch unless the user says otherwise.
        batch_tokens: Most padded tokens of a batch, None = no limit.
    """

    name: str
    model: str = ""
    server: Server | None = None
    plugin: Callable[[ReaderOptions], Reader] | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    batch_size: int = DEFAULT_BATCH_SIZE
    batch_tokens: int | None = None

    def options(self, given: Mapping[str, Any]) -> ReaderOptions:
        """The options of the reader: what the user gave (None = nothing), else its defaults. Raises BadInput."""
        said = {name: value for name, value in given.items() if value is not None}
        return ReaderOptions(**{**self.defaults, **said})


def find_reader(name: str) -> ReaderSpec:
    """What a name, a reader file or an entry point stands for.

    Raises:
        BadInput: Nothing of that name, or a file that cannot be used.
        MissingExtra: A reader file is given and PyYAML is not installed.
    """
    if name == SMOLLM2 or name.startswith(TRANSFORMERS):
        return ReaderSpec(name, model=name)
    if name.startswith(OPENAI):
        server = parse_server(name)  # its address is no part of the name: another host gives the same answers
        return ReaderSpec(f"{OPENAI}{server.model}", server=server, batch_size=SERVER_BATCH_SIZE)
    if name in PRESETS:
        preset = PRESETS[name]
        return ReaderSpec(name, preset.model, None, None, preset.options, preset.batch_size, preset.batch_tokens)
    if name.endswith((".yaml", ".yml")):
        return _from_file(Path(name))
    if plugin := _plugin(name):
        return ReaderSpec(name, plugin=plugin)
    raise BadInput(f"there is no reader '{name}'", field="--reader", remedy=f"Known readers: {', '.join(listed())}")


def listed() -> dict[str, str]:
    """`READERS` and those of other distributions."""
    others = {f"{point.name}:…": f"from {_origin(point)}" for point in metadata.entry_points(group=ENTRY_POINTS)}
    return READERS | dict(sorted(others.items()))


def _plugin(name: str) -> Callable[[ReaderOptions], Reader] | None:
    kind, _, argument = name.partition(":")
    found = list(metadata.entry_points(group=ENTRY_POINTS, name=kind))
    if not found:
        return None
    if len(found) > 1:
        origins = ", ".join(sorted(map(_origin, found)))
        raise BadInput(f"several distributions offer reader '{kind}': {origins}", field="--reader")
    point = found[0]

    def open_plugin(options: ReaderOptions) -> Reader:
        try:
            reader = point.load()(argument, options)
        except BadInput:
            raise
        except Exception as problem:
            raise BadInput(
                f"reader '{kind}' of {_origin(point)} cannot be opened: {type(problem).__name__}: {problem}",
                field="--reader",
            ) from problem
        if not isinstance(reader, Reader):
            raise BadInput(f"'{kind}' of {_origin(point)} gives no tpbench reader", field="--reader")
        return reader

    return open_plugin


def _origin(point: metadata.EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


def _from_file(path: Path) -> ReaderSpec:
    values = _read_yaml(path)
    backend, model, name = values.pop("backend", None), values.pop("model", None), values.pop("name", None)
    if backend not in ("transformers", "openai"):
        raise BadInput("must be transformers or openai", file=path, field="backend")
    if not isinstance(model, str) or not model:
        raise BadInput("must name a model", file=path, field="model")
    if name is not None and not isinstance(name, str):
        raise BadInput("must be a text", file=path, field="name")
    allowed = _OPTION_KEYS | {"batch_size", "batch_tokens"} if backend == "transformers" else set()
    if backend == "openai":
        allowed = (_SERVER_KEYS - {"model"}) | {"max_new_tokens", "batch_size"}
    if unknown := sorted(str(key) for key in values if key not in allowed):
        raise BadInput("unknown key", file=path, field=unknown[0], remedy=f"Known: {', '.join(sorted(allowed))}")
    default_size = DEFAULT_BATCH_SIZE if backend == "transformers" else SERVER_BATCH_SIZE
    batch_size = _whole(values.pop("batch_size", default_size), path, "batch_size")
    batch_tokens = values.pop("batch_tokens", None)
    if batch_tokens is not None:
        batch_tokens = _whole(batch_tokens, path, "batch_tokens")
    try:
        if backend == "openai":
            defaults = {key: values.pop(key) for key in ("max_new_tokens",) if key in values}
            ReaderOptions(**defaults)
            server = Server(model, **values)
            return ReaderSpec(name or f"{OPENAI}{model}", "", server, None, defaults, batch_size)
        ReaderOptions(**values)
    except TypeError:
        raise BadInput("a value has the wrong type", file=path) from None
    except BadInput as problem:
        raise BadInput(problem.problem, file=path, field=problem.field, remedy=problem.remedy) from None
    full = model if model == SMOLLM2 or model.startswith(TRANSFORMERS) else f"{TRANSFORMERS}{model}"
    return ReaderSpec(name or full, full, None, None, values, batch_size, batch_tokens)


def _read_yaml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise BadInput("no such reader file", file=path, field="--reader")
    if path.stat().st_size > _MAX_FILE_BYTES:
        raise BadInput(f"larger than {_MAX_FILE_BYTES} bytes, so not a reader file", file=path)
    require_packages("yaml")
    import yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as problem:
        raise BadInput(f"not valid YAML: {str(problem).splitlines()[0]}", file=path) from None
    if not isinstance(values, dict):
        raise BadInput("must be a mapping with the keys backend and model", file=path)
    kinds = {entry.name: str(entry.type) for entry in (*fields(Server), *fields(ReaderOptions))}
    for key, value in values.items():
        if not _fits(value, kinds.get(key, "")):
            raise BadInput(f"has the wrong type: {value!r}", file=path, field=str(key))
    return values


def _fits(value: object, kind: str) -> bool:
    """Whether a YAML value has the type that a field is declared with."""
    if value is None:
        return "None" in kind or not kind
    if kind.startswith("int"):
        return type(value) is int
    if kind == "float":
        return type(value) in (int, float)
    if kind == "bool":
        return type(value) is bool
    if kind.startswith("Mapping"):
        return isinstance(value, dict) and all(isinstance(key, str) for key in value)
    return isinstance(value, str) if kind else True


def _whole(value: object, path: Path, name: str) -> int:
    if type(value) is not int or value < 1:
        raise BadInput(f"must be a whole number above 0, not {value!r}", file=path, field=name)
    return value
