"""The one exception that users see: what is wrong, where, and what to do."""


class InputError(Exception):
    """Bad input, said in one sentence.

    The message names the file, column and row number where they are known, and a
    remedy. It never holds a key, a value of the data or a value of the internal
    use file: adapters print it as it is, without a traceback.
    """
