"""A finished study as one file that an auditor can hold: seal, verify, reproduce, compare (METHODS §10).

``layout`` says what is where in a bag. ``content`` digests the content of a table, whatever wrote its file.

Making: ``collect`` finds what goes into the bag, ``crate`` describes it, ``bag`` writes the zip, ``signing`` signs it,
``seal`` has the commands that seal, and add a sign-off. Reading: ``unpack`` reads the zip of a stranger,
``consistency`` its documents, ``verify`` all of it; ``inputs`` finds the sources, ``codebase`` chooses the code,
``rerun`` recomputes, ``outcome`` compares, ``reproduce`` is the command.

``releases`` reads two studies or bags, ``changes`` and ``differences`` compare them, ``comparison`` concludes,
``compare`` is the command.
"""
