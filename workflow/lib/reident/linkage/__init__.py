"""Linkage: how many released records an intruder with an external file finds (METHODS §2 to §6).

Unless a function says otherwise, ``files``, ``prepared`` and ``binned`` are the prepared or binned tables ``puf`` and
``eif``; ``strata`` has the stratum of each record of a file, its line of the manifest from 0, null for none;
``manifest`` is the table of strata; ``iuf`` has the prepared links; ``pairs`` are the suspected pairs by metric, by row
number in the order of PUF records, those of each best first; ``clusters`` has the number of the cluster of each PUF
record, ``cluster``, and no row in a study without cluster columns. A `reident.linkage.batches.Source` is a table, or a
Parquet file that is read batch by batch. No result depends on ``threads``.
"""
