"""Risk of one file: sample uniques, DIS, SUDA, DIS-SUDA (METHODS §7).

Unless a function says otherwise, ``codes`` are the category codes of the key, int32 (n, v), -1 for missing; ``sizes``
are the records of the file that match each record on the key, int64 (n,), as `uniques.cell_sizes` gives them;
``fraction`` is the sampling fraction f of the cells, in (0, 1]; ``wildcard`` says whether a missing value matches every
value. The tables ``file``, ``population``, ``original`` and ``categories`` are as `prepare.prepare` gives them.
``progress`` takes the share of the work that is done, and no result depends on ``threads``.
"""
