"""The notice of every source corpus that a release derives from (``LICENSES/``)."""

from __future__ import annotations

import re
from typing import Any

_SPDX = re.compile(r"(CC|MIT|Apache|BSD|CDLA|ODbL|ODC|PDDL|GPL|LGPL|MPL)[A-Za-z0-9.-]*")


def licence_link(licence: str) -> str:
    """The SPDX page of a licence id, or the text itself where it is not an id that SPDX lists."""
    return f"https://spdx.org/licenses/{licence}.html" if _SPDX.fullmatch(licence) else licence


def licence_files(facts: dict[str, Any]) -> dict[str, str]:
    """Path -> text of one notice per corpus of the manifest."""
    return {f"LICENSES/{name}.txt": _notice(name, corpus) for name, corpus in sorted(facts["corpora"].items())}


def _notice(name: str, corpus: dict[str, Any]) -> str:
    lines = [
        f"The rows with corpus = {name} derive from: {corpus['title']}",
        f"Licence of the source: {corpus['licence']}",
    ]
    link = licence_link(str(corpus["licence"]))
    if link.startswith("https:"):
        lines.append(f"Licence text: {link}")
    if corpus["homepage"]:
        lines.append(f"Homepage: {corpus['homepage']}")
    if corpus["citation"]:
        lines.append(f"Please cite: {corpus['citation']}")
    lines.append(
        "Changes: dialogues were sampled, turns were selected and joined to contexts, and questions were derived "
        "from the annotated states."
    )
    return "\n".join(lines) + "\n"
