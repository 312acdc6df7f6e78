"""What people see while a command works: progress, remarks, durations."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tpbench_generate.batch_loop import Progress


INTERRUPTED = 130
"""Exit code after Ctrl-C."""


def line_ender() -> Callable[[], None]:
    """Ends the line of progress, where there is one."""
    return (lambda: click.echo(err=True)) if sys.stderr.isatty() else (lambda: None)


def duration(seconds: float) -> str:
    """Hours, minutes and seconds, as 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def shown(show: Callable[[str], None]) -> Callable[[Progress], None]:
    """Shows progress with rate and remaining time."""

    def on_progress(now: Progress) -> None:
        text = f"{now.done}/{now.total} prompts"
        if now.per_second is not None and now.seconds_left is not None:
            text += f", {now.per_second:.2f}/s, {duration(now.seconds_left)} left"
        show(text)

    return on_progress


def note(text: str) -> None:
    """Tells something on stderr; the line of progress makes way."""
    clear = "\r\x1b[K" if sys.stderr.isatty() else ""
    click.echo(f"{clear}tpbench-generate: {text}", err=True)


@contextlib.contextmanager
def resumable(out: Path, done: Callable[[], None]) -> Iterator[None]:
    """For work on a run folder: Ctrl-C ends it with `INTERRUPTED` and says how to go on.

    Args:
        out: The folder.
        done: Ends the line of progress; called however the work ends, unless it fails.
    """
    try:
        yield
    except KeyboardInterrupt:
        done()
        note(f"interrupted; run the same command again to go on: finished batches are kept in {out}")
        raise click.exceptions.Exit(INTERRUPTED) from None
    done()
