"""The exception for wrong input: what is wrong, where, and what to do."""

from collections.abc import Callable
from contextlib import AbstractContextManager


class InputError(Exception):
    """Wrong input, reported in one message.

    The message begins with the file, column and row number, as far as they are known. It says what is
    wrong and what to do, and never contains a key, a value of the data or a value of the internal use
    file: adapters print it as it is, without a traceback.
    """


Guard = Callable[[], AbstractContextManager[object]]
"""Encloses a check after which others can go on: ``nullcontext`` stops at the first error, validation notes it."""
