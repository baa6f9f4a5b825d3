"""Re-identification studies of public use files.

A module of this package runs as its source is now. Python takes a compiled module for current if its source has the
size and the time stamp of the compiled one; an edit that keeps both would run the old code under the digest of the new
one. In this package the checksum of the source takes the place of its time stamp.
"""

import sys
import zlib
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from pathlib import Path


class _Loader(SourceFileLoader):
    """Loads modules; what is compiled is recognised by size and checksum of the source."""

    def path_stats(self, path: str) -> dict[str, float]:
        content = Path(path).read_bytes()
        return {"mtime": zlib.crc32(content), "size": len(content)}


def _find(folder: str) -> FileFinder:
    if not Path(folder).is_relative_to(__path__[0]):
        raise ImportError
    return FileFinder(folder, (_Loader, SOURCE_SUFFIXES))


sys.path_hooks.insert(0, _find)

from reident.starter import end_silently  # noqa: E402 - found by the loader above, like every other module

end_silently()
