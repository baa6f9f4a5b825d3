"""The exception for wrong input: what is wrong, where, and what to do."""


class InputError(Exception):
    """Wrong input, reported in one message.

    The message begins with the file, column and row number, as far as they are known. It says what is
    wrong and what to do, and never contains a key, a value of the data or a value of the internal use
    file: adapters print it as it is, without a traceback.

    Parameters
    ----------
    message : str
    about : tuple of str
        What may be left out so that the other checks can go on: ``("variable", "age")``, or another part of the
        study, such as ``("links",)``; empty if they cannot.
    """

    def __init__(self, message: str, about: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.about = about
