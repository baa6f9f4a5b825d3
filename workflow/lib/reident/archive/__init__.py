"""A finished study as one file that an auditor can hold: seal, verify, reproduce, compare (METHODS §10).

``layout`` says what is where in a bag. ``content`` digests the content of a table, whatever wrote its file.

Making: ``collect`` finds what goes into the bag, ``crate`` describes it, ``bag`` writes the zip, ``signing`` signs it,
``seal`` is the command. Reading: ``unpack`` takes a zip from a stranger, ``verify`` checks every byte of it, ``rerun``
recomputes, ``outcome`` compares, ``reproduce`` is the command. ``releases`` compares two studies.

Beside the bag: ``wheelhouse`` keeps the packages that the lock names, for machines without a network.
"""
