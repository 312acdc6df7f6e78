"""Index streams for resampling: which clusters each resample draws.

A result must not move with the version of a library, so no stream here calls a library's "choose" or "integers":

* ours: SHAKE-256 (a published standard) turned into indices by one multiplication;
* the published ones: the raw output words of PCG64 and of the Mersenne twister, whose sequences are fixed by
  definition, turned into indices by the algorithms that numpy's ``Generator.integers`` and Python's
  ``Random.randrange`` used when the paper was made (scoring spec 4.8).
"""

from __future__ import annotations

import hashlib
import random

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]

OWN_ALGORITHM = "shake256-1"
"""Name and version of our stream; raised if its indices ever change."""

OWN_SEED = 20260928
PUBLISHED_SEED = 20260928
CORPUS_SEED_PREFIX = "20260811"

_WORD = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def own_draws(clusters: int, resamples: int, seed: int = OWN_SEED) -> Indices:
    """Our frozen indices, shape (resamples, clusters), each in [0, clusters).

    The stream is SHAKE-256 of "tpbench|shake256-1|seed|clusters", read as little-endian 32-bit words u; an index is
    floor(u * clusters / 2^32). It depends on the number of clusters alone, so two statistics over the same clusters
    are resampled in pairs.
    """
    name = f"tpbench|{OWN_ALGORITHM}|{seed}|{clusters}"
    words = hashlib.shake_256(name.encode("ascii")).digest(4 * clusters * resamples)
    scaled = np.frombuffer(words, dtype="<u4").astype(np.uint64)
    scaled *= np.uint64(clusters)
    scaled >>= _HALF
    return scaled.view(np.int64).reshape(resamples, clusters)


class PublishedDraws:
    """The indices of ``numpy.random.default_rng(seed).integers(clusters, size=(resamples, clusters))``.

    Several calls continue one stream, as several calls on one generator do. The generator hands out the low half of
    each 64-bit word before the high half, and rejects a half that would favour small indices (Lemire's method).
    """

    def __init__(self, seed: int = PUBLISHED_SEED) -> None:
        self._words = np.random.PCG64(seed)
        self._left: npt.NDArray[np.uint64] = np.empty(0, dtype=np.uint64)

    def _halves(self, count: int) -> npt.NDArray[np.uint64]:
        missing = count - len(self._left)
        if missing > 0:
            raw = np.asarray(self._words.random_raw((missing + 1) // 2), dtype=np.uint64)
            fresh = np.empty(2 * len(raw), dtype=np.uint64)
            fresh[0::2] = raw & _WORD
            fresh[1::2] = raw >> _HALF
            self._left = np.concatenate([self._left, fresh])
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def draw(self, clusters: int, resamples: int) -> Indices:
        """The next indices, shape (resamples, clusters), each in [0, clusters)."""
        wanted = clusters * resamples
        if clusters == 1:
            return np.zeros((resamples, 1), dtype=np.int64)
        threshold = np.uint64((2**32 - clusters) % clusters)
        drawn = np.empty(wanted, dtype=np.int64)
        filled = 0
        while filled < wanted:
            product = self._halves(wanted - filled) * np.uint64(clusters)
            kept = product[(product & _WORD) >= threshold] >> _HALF
            drawn[filled : filled + len(kept)] = kept.astype(np.int64)
            filled += len(kept)
        return drawn.reshape(resamples, clusters)


def corpus_draws(label: str, items: int, resamples: int) -> Indices:
    """The indices of ``random.Random(seed).randrange(items)``, called ``resamples * items`` times.

    The seed is the first 16 hex digits of SHA-256 of "20260811|" + label, for example
    "20260811|risawoz_p2|p3_correct|recency".

    Returns:
        Shape (resamples, items), each in [0, items).
    """
    digest = hashlib.sha256(f"{CORPUS_SEED_PREFIX}|{label}".encode()).hexdigest()
    state = random.Random(int(digest[:16], 16)).getstate()[1]
    twister = np.random.MT19937()
    twister.state = {
        "bit_generator": "MT19937",
        "state": {"key": np.array(state[:-1], dtype=np.uint32), "pos": state[-1]},
    }
    bits = items.bit_length()
    wanted = items * resamples
    parts: list[npt.NDArray[np.int64]] = []
    filled = 0
    while filled < wanted:
        # randrange takes the top bits of a word and tries again while they are not below the bound.
        raw = np.asarray(twister.random_raw((wanted - filled) * 2**bits // items + 64), dtype=np.uint64) >> np.uint64(
            32 - bits
        )
        kept = raw[raw < np.uint64(items)].astype(np.int64)[: wanted - filled]
        parts.append(kept)
        filled += len(kept)
    return np.concatenate(parts).reshape(resamples, items)
