"""Upper bounds on what a release may hold, so that one from a stranger ends in an error and not in a full machine.

Each is far above what a real release needs (the published one has about 76,000 outputs and less than 200 MiB).
"""

from __future__ import annotations

MIB = 2**20

MAX_MANIFEST_BYTES = 8 * MIB
MAX_FILES = 10_000
MAX_FILE_BYTES = 1024 * MIB
MAX_RELEASE_BYTES = 16 * 1024 * MIB

MAX_JSON_BYTES = 16 * MIB
"""Of a stored table or of ``croissant.json``."""
MAX_JSON_DEPTH = 64

MAX_TABLE_BYTES = 2 * 1024 * MIB
"""Of one Parquet file when unpacked, texts repeated as often as they occur."""
MAX_TABLE_ROWS = 5_000_000
MAX_TABLE_VALUES = 200_000_000
"""Values of one column, list entries counted singly."""
MAX_FOOTER_BYTES = 4 * MIB
MAX_PAGES = 200_000
MAX_RATIO = 1_000
"""Unpacked pages to file size; only looked at above `RATIO_FREE_BYTES`, because tiny files compress oddly."""
RATIO_FREE_BYTES = 64 * MIB

MAX_PATH = 150
"""Characters of a path within the release."""
