"""The notice of every source corpus that a release derives from (``LICENSES/``)."""

from __future__ import annotations

from typing import Any


def licence_files(facts: dict[str, Any]) -> dict[str, str]:
    """Path -> text of one notice per corpus of the manifest."""
    return {f"LICENSES/{name}.txt": _notice(name, corpus) for name, corpus in sorted(facts["corpora"].items())}


def _notice(name: str, corpus: dict[str, Any]) -> str:
    lines = [
        f"The rows with corpus = {name} derive from: {corpus['title']}",
        f"Licence of the source: {corpus['licence']}",
    ]
    if corpus["licence"].startswith("CC-"):
        lines.append(f"Licence text: https://spdx.org/licenses/{corpus['licence']}.html")
    if corpus["homepage"]:
        lines.append(f"Homepage: {corpus['homepage']}")
    if corpus["citation"]:
        lines.append(f"Please cite: {corpus['citation']}")
    lines.append(
        "Changes: dialogues were sampled, turns were selected and joined to contexts, and questions were derived "
        "from the annotated states."
    )
    return "\n".join(lines) + "\n"
