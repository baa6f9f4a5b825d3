"""Whether files and links are described as they are: what the links and the files alone show (METHODS §1.1).

`init` proposes by it, `validate` and the step `check_description` warn by it.
"""
