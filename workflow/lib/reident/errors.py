"""The exception for wrong input: the mistake, its place, and a remedy; and the warning of the library."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager


class InputError(Exception):
    """Wrong input, reported in one message.

    The message begins with the file, column and row number, as far as they are known. It says what is
    wrong and what to do, and never contains a key, a value of the data or a value of the internal use
    file: adapters print it as it is, without a traceback.
    """


class RiskWarning(UserWarning):
    """A warning of the library that its results may be invalid or understate the risk, with what to do.

    The table ``warnings`` of a result has it, too, and warnings that are notable alone. No warning has a key or a value
    of the internal use file.
    """


def type_name(error: BaseException) -> str:
    """Return the name of the type of an error, or of its nearest base that is in a module of this process.

    The name of a type that code made while it ran may hold data.
    """
    return next(
        kind.__name__
        for kind in type(error).__mro__
        if getattr(sys.modules.get(str(kind.__module__)), kind.__name__, None) is kind
    )


Guard = Callable[[], AbstractContextManager[object]]
"""Encloses a check after which others can go on: ``nullcontext`` stops at the first error, validation notes it."""
