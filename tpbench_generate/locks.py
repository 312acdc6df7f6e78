"""One process at a time: a lock that the operating system drops when its holder dies."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from tpbench_data.errors import TPBenchError


class Locked(TPBenchError):
    """Another process holds the lock."""


@contextlib.contextmanager
def exclusive(path: Path, *, wait: bool) -> Iterator[None]:
    """Holds an exclusive lock on a file, which is created if need be and never removed or changed.

    On a file system without locks nothing is locked.

    Args:
        path: The file; its folder must exist.
        wait: Wait for the holder to finish, instead of raising `Locked`.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _lock(fd, path, wait=wait)
        yield
    finally:
        os.close(fd)  # closing drops the lock


if sys.platform == "win32":
    import msvcrt
    import time

    _FAR = 1 << 40
    """Windows locks bytes, and a locked byte cannot be written: so lock one that no file reaches."""

    def _lock(fd: int, path: Path, *, wait: bool) -> None:
        while True:
            os.lseek(fd, _FAR, os.SEEK_SET)
            try:
                msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
                return
            except OSError:
                if not wait:
                    raise Locked(f"{path} is in use by another process") from None
                time.sleep(0.2)

else:
    import errno
    import fcntl

    def _lock(fd: int, path: Path, *, wait: bool) -> None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Locked(f"{path} is in use by another process") from None
        except OSError as problem:
            if problem.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
                raise
