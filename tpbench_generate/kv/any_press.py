"""Any other press of kvpress, named by its class: what it leaves is measured and recorded, but not foretold."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any

from tpbench_data.errors import BadInput
from tpbench_data.names import METHOD_LABELS
from tpbench_data.selectors.settings import make_method, print_value
from tpbench_generate.kv.base import SINKS, KVMethod

CLASS_NAME = re.compile(r"([A-Z]\w*Press)\s*(?:\((.*)\))?", re.DOTALL)


@dataclass(frozen=True)
class AnyPress(KVMethod):
    """A press of kvpress with its own settings.

    Attributes:
        budget: Always ``kvpress``: the library's rule for this press is not known here.
        press_class: The name of its class.
        press_settings: Its settings, sorted by name; the removed fraction is not among them.
    """

    press_class: str = ""
    press_settings: tuple[tuple[str, Any], ...] = ()

    @property
    def least_context(self) -> int:
        """The largest window, chunk or sink among its settings, and the sinks."""
        sizes = [value for _, value in self._all_settings() if type(value) is int]
        return max(sizes, default=0) + SINKS

    def press(self, removed: float) -> Any:
        """An object of the class."""
        press = _class_named(self.press_class)(**dict(self.press_settings))
        press.compression_ratio = removed
        return press

    def expected(self, length: int, ratio: float, n_layers: int) -> Sequence[frozenset[int]] | None:
        """Nothing."""
        return None

    def settings(self) -> dict[str, Any]:
        """Name and settings as plain data."""
        return {"method": self.name, "budget": self.budget, "press": self.press_class} | dict(self.press_settings)

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={print_value(value)}" for name, value in self.press_settings)
        return f"{self.press_class}({shown})" if shown else self.press_class

    def _all_settings(self) -> list[tuple[str, Any]]:
        press = _class_named(self.press_class)(**dict(self.press_settings))
        return [(field.name, getattr(press, field.name)) for field in fields(press)]


def named_press(class_name: str, inside: str) -> AnyPress:
    """The press of that class with the settings between the brackets.

    Raises:
        BadInput: kvpress has no such class, it needs more than plain settings, or a setting does not fit.
    """
    kind = _class_named(class_name)
    if re.search(r"\bcompression_ratio\b", inside):
        raise BadInput(f"the ratio of {class_name} is the run's", field="--kv", remedy="Give it with --ratio")
    try:
        press = make_method(kind, inside)
    except AssertionError as problem:  # kvpress checks settings in this way
        raise BadInput(f"{class_name} refuses its settings ({inside}): {problem}", field="--kv") from problem
    try:
        press.compression_ratio, default = 0.5, press.compression_ratio
        press.compression_ratio = default
    except Exception as problem:  # some have none, and some refuse to be set
        raise BadInput(
            f"{class_name} has no compression ratio that can be set", field="--kv", remedy="Choose another press"
        ) from problem
    settings = tuple(
        sorted(
            (field.name, getattr(press, field.name))
            for field in fields(press)
            if field.init and getattr(press, field.name) != field.default and field.name != "compression_ratio"
        )
    )
    return _kind_of(class_name)(budget="kvpress", press_class=class_name, press_settings=settings)


@cache
def _kind_of(class_name: str) -> type[AnyPress]:
    """The subclass that carries the method name of a press: ``KnormPress`` is the method ``knorm``."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", class_name.removesuffix("Press")).lower()
    return type(f"Any{class_name}", (AnyPress,), {"name": name, "summary": f"kvpress.{class_name}"})


def _class_named(name: str) -> Any:
    import kvpress
    from kvpress.presses.base_press import BasePress

    kind = getattr(kvpress, name, None)
    if not (inspect.isclass(kind) and issubclass(kind, BasePress) and is_dataclass(kind)):
        known = sorted(
            other
            for other, value in vars(kvpress).items()
            if inspect.isclass(value) and issubclass(value, BasePress) and value is not BasePress
        )
        raise BadInput(f"kvpress has no press {name}", field="--kv", remedy=f"It has: {', '.join(known)}")
    own = name.removesuffix("Press").lower()
    if own in METHOD_LABELS:
        raise BadInput(f"{name} has its own name here", field="--kv", remedy=f"Write --kv {own}")
    return kind
