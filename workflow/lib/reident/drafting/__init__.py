"""Draft a study file from the files themselves: `reident init`.

From the ground up: `source` (format, encoding, delimiter), `scan` (the records, in batches), `profile` (what a column
holds), `codes` (missing codes), `types`, `keys`, `links`, `counterparts` (which columns of two files correspond),
`recodes`, `strata`, `sheet` (the text of the draft), one module for each kind of study, and `command`.

A draft has names of columns, counts, and codes of categories, never another value of a file (:mod:`disclosure`).
"""
