"""Draft a study file from the files themselves: `reident init`.

From the ground up: `names`, `hashing`, `source` (format, encoding, delimiter), `codes` (missing codes),
`scan` (the records, in batches), `profile` (what a column holds), `types` (and which codes a draft may show), `keys`,
`links`, `counterparts` (which columns of two files correspond), `recodes`, `strata`, `sheet` (the text of a draft),
`draft` (what all drafts share), one module for each kind of study, and `command`.

A draft has names of columns, counts, missing codes, and codes of categories, never another value of a file
(:func:`reident.drafting.types.codes_to_show`).
"""
