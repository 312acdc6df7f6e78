"""What every TPBench command shares: one error line and exit 2, quiet pipes, output meant for people.

Exit codes: 0 fine, 1 a check failed, 2 bad usage or input, 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping

import click

from tpbench_data.errors import TPBenchError

CHECK_FAILED = 1
BAD_INPUT = 2


class LazyGroup(click.Group):
    """A command group that imports a command's module only when it is used, so that help is instant.

    Args:
        name: Name of the program.
        help: One line on what it does.
        commands_in: Command name -> module that holds a click command called ``command``.
    """

    def __init__(self, *, name: str, help: str, commands_in: Mapping[str, str]) -> None:
        super().__init__(name=name, help=help, context_settings={"help_option_names": ["-h", "--help"]})
        self.commands_in = commands_in

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order declared."""
        return list(self.commands_in)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Imports and returns one command."""
        if name not in self.commands_in:
            return None
        command = importlib.import_module(self.commands_in[name]).command
        assert isinstance(command, click.Command)
        return command


def run(group: click.Command, prog: str) -> None:
    """Runs a click command; a bad input ends in one message on stderr and exit 2, never in a traceback."""
    try:
        code = group.main(prog_name=prog, standalone_mode=False)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as problem:
        problem.show()
        code = BAD_INPUT
    except click.Abort:
        code = 130
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        code = 130
    except TPBenchError as problem:
        click.echo(f"{prog}: {problem}", err=True)
        code = BAD_INPUT
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: that is its right, not our error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as problem:
        where = f"{problem.filename}: " if problem.filename else ""
        click.echo(f"{prog}: {where}{problem.strerror or problem}", err=True)
        code = BAD_INPUT
    sys.exit(code if isinstance(code, int) else 0)


def progress(label: str) -> Callable[[str], None]:
    """A function that shows one line of progress on stderr, only when stderr is a terminal."""
    if not sys.stderr.isatty():
        return lambda text: None

    def show(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{label}: {text}")
        sys.stderr.flush()

    return show
