"""Finding what ships with the package: the embedded release and the templates, in a wheel or in a checkout."""

from __future__ import annotations

from pathlib import Path

from tpbench_data.errors import BadInput

_PACKAGE = Path(__file__).parent


def embedded_folder(name: str) -> Path:
    """The folder ``tpbench`` (the release) or ``croissant`` (templates) as installed or as checked out.

    Raises:
        BadInput: It is in neither place.
    """
    checkout = _PACKAGE.parent / ("releases/tpbench" if name == "tpbench" else name)
    for folder in (_PACKAGE / "_embedded" / name, checkout):
        if folder.is_dir():
            return folder
    raise BadInput(f"the embedded folder {name!r} is missing", remedy="Install the package again")


def embedded_release() -> Path:
    """The folder of the release that ships with the package."""
    return embedded_folder("tpbench")
