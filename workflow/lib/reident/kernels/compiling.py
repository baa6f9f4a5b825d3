"""How the kernels are compiled: once, cached, without the GIL, never with fast math.

Numba's cache notices an edit of the file that has a function, but not an edit of a module from which that function
inlines another, and would run the old code. The cache is therefore in a folder named by the digest of all sources
of the kernels.
"""

import hashlib
import os
from pathlib import Path

import numba

_SOURCES = Path(__file__).parent


def _sources_digest() -> str:
    """Return a digest of numba's version and of all modules of this folder."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(_SOURCES.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    """Return ``$NUMBA_CACHE_DIR`` if set, ``.cache/numba`` beside the workflow for its owner, or the user's cache.

    What is in the cache is code that runs. Several users of one checkout therefore have a cache each: nobody runs what
    another one wrote, and a checkout that others may not write to serves them as well.
    """
    if declared := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(declared)
    checkout = _SOURCES.parents[3]
    if checkout.stat().st_uid == os.geteuid() and os.access(checkout, os.W_OK):
        return checkout / ".cache" / "numba"
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - there may be no home
    return Path(caches, "reident", "numba")


numba.config.CACHE_DIR = str(_cache_root() / _sources_digest())

jit = numba.njit(cache=True, nogil=True, error_model="numpy")
"""For functions that allocate arrays."""

lean_jit = numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
"""For functions that allocate nothing: without the reference counts that numba keeps for arrays. In inner functions
that take tuples of arrays, counting costs more than the work, and threads wait for one another."""

inner_jit = numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)
"""For such functions in an inner loop: passing a tuple of arrays costs more than the work, so that they become part of
the function that calls them."""
