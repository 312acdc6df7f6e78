"""How a selector runs its model: on one device, and on one CPU thread, so that no core count changes a byte.

Sums of floats depend on how many threads share them. Each worker process therefore computes on one thread, and
speed comes from more workers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tpbench_data.errors import BadInput

_device = "cpu"


def set_device(name: str) -> None:
    """Chooses where selectors of this process run their models: ``cpu``, ``cuda:0``, or ``auto`` (a GPU, else CPU).

    Raises:
        BadInput: The device cannot be used here.
    """
    global _device
    if name != "cpu":
        import torch

        if name == "auto":
            name = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            torch.empty(0, device=name)
        except (RuntimeError, AssertionError, NotImplementedError) as problem:
            raise BadInput(
                f"'{name}' cannot be used here: {str(problem).splitlines()[0]}", field="--device", remedy="Use cpu"
            ) from None
    _device = name


def device() -> str:
    """The torch device that selectors of this process use."""
    return _device


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Runs torch on one CPU thread and without gradients, and restores the number of threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            yield
    finally:
        torch.set_num_threads(before)
