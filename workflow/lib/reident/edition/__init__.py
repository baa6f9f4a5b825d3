"""The releasable edition: a public statement that holds against whoever has the files (METHODS §11)."""

from reident.edition.public import state
from reident.edition.statement import Statement

__all__ = ["Statement", "state"]
