"""Faults of the device while a model works: memory that runs out, and a GPU that is broken."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tpbench_data.errors import TPBenchError
from tpbench_generate.readers.model_source import CPU_IS_FULL


@contextlib.contextmanager
def telling_faults() -> Iterator[None]:
    """Around a model's work: lets memory that ran out be told apart from other errors, on every device.

    Raises:
        torch.OutOfMemoryError: No memory left; the next, smaller batch may fit.
        TPBenchError: The device is broken, which no prompt is to blame for.
    """
    import torch

    try:
        yield
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        raise
    except getattr(torch, "AcceleratorError", ()) as problem:
        # After such a fault every later call of this process fails too: the prompts are not to blame.
        raise TPBenchError(
            f"the GPU failed: {str(problem).splitlines()[0]}. Run the same command again: finished batches are kept."
        ) from problem
    except RuntimeError as problem:
        if CPU_IS_FULL not in str(problem):
            raise
        raise torch.OutOfMemoryError(f"the CPU has no memory left: {problem}") from problem
