"""MultiWOZ, every version under one name: 2.2 files, and the legacy layout of 2.1 and 2.4.

Which layout a file has is seen from its content; the version goes to the manifest. Dialogue ids and slots are the
corpus's own (``restaurant-booktime``), because the published index and the alias table use them.
"""

from __future__ import annotations

from collections.abc import Iterator

from tpbench_data.corpora import shapes
from tpbench_data.corpora.json_reading import Place, stream_records
from tpbench_data.corpora.multiwoz_legacy import read_legacy
from tpbench_data.corpora.sgd import KnownForms, read_dialogue
from tpbench_data.corpora.source_files import SourceFiles
from tpbench_data.dialogue import Dialogue
from tpbench_data.errors import BadInput

PATTERN = r"dialogues_(\d+)\.json|(?:data|train|val|dev|test)\.json"

V22 = "2.2"
LEGACY = "2.1 or 2.4"
"""The two legacy versions have one layout; a pinned hash tells which it is (`tpbench_data.sources`)."""


def load(files: SourceFiles) -> Iterator[Dialogue]:
    """Streams the dialogues in file order, then place in the file, and notes the version in ``files``.

    Raises:
        BadInput: A file is malformed, in another corpus's layout, or the files are of different versions.
    """
    seen = ""
    known: KnownForms = {}
    for name, data in files:
        for number, (key, record) in enumerate(stream_records(data, name), start=1):
            if number == 1:
                version = LEGACY if key is not None else V22
                shapes.expect(record, shapes.MULTIWOZ_LEGACY if key is not None else shapes.MULTIWOZ_22, name)
                if seen not in ("", version):
                    raise BadInput(
                        f"MultiWOZ {version} among files of {seen}", file=name, remedy="Give a folder of one version"
                    )
                seen = version
                files.version = files.version or version
            place = Place(name, number)
            if key is None:
                yield read_dialogue(record, place, "multiwoz", None, known)
            else:
                yield read_legacy(key, record, place)
