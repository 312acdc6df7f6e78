"""Style sheet and scripts of the page, and the policy that lets these run and nothing else."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from tpbench_score.report.markup import Markup

STYLE = "report.css"
SCRIPTS = ("sort.js", "mix.js", "items.js")


def asset(name: str) -> str:
    """The text of a file of this package, line ends as LF on every system."""
    data = resources.files("tpbench_score.report").joinpath(name).read_bytes()
    return data.decode("utf-8").replace("\r\n", "\n")


def style() -> Markup:
    """The style sheet as an element."""
    return Markup(f"<style>{asset(STYLE)}</style>")


def scripts() -> Markup:
    """The scripts as elements."""
    return Markup("\n".join(f"<script>{asset(name)}</script>" for name in SCRIPTS))


def _digest(name: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(asset(name).encode('utf-8')).digest()).decode('ascii')}'"


def policy() -> str:
    """The Content-Security-Policy: no network, no frames, no forms, and only our own style sheet and scripts.

    Even if a text of a release became an element through a fault of ours, it could not run or load anything.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src {_digest(STYLE)}",
            f"script-src {' '.join(map(_digest, SCRIPTS))}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        )
    )
