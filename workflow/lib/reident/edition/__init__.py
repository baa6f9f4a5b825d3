"""The releasable edition: a public statement that holds against whoever has the files (METHODS §11)."""

from reident.edition.statement import Statement, state

__all__ = ["Statement", "state"]
