"""Numbers with their nouns, such as ``2 records``, in the language of the report."""

from __future__ import annotations

from reident.report.sentences import Sentences

NOUNS = Sentences("nouns")


def some(value: int, noun: str) -> str:
    """Return a number with its noun in the singular or the plural.

    Parameters
    ----------
    value : int
    noun : str
        A key of ``nouns.yaml``.

    Examples
    --------
    >>> some(1, "record"), some(1200, "record")
    ('1 record', '1,200 records')
    """
    return NOUNS(f"{noun}", n=value)
