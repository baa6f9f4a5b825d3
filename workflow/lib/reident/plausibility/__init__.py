"""Checks of the description of files and links, by the links and the files alone (METHODS §1.1).

`init` proposes by it, `validate` and the step `check_description` warn by it.
"""
