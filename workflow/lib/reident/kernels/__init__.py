"""Compiled inner loops: plain arrays in, plain arrays out (METHODS §1, §4, §7, §8, §12).

Nothing here knows a study, a table or a file. This page is the map of the folder. Callers use the modules of the first
table only; each has one public function, which checks its arguments (`keysets` has two: cells are numbered once for all
targets; `patterns` has a class, to which strata are added). Those that return suspected pairs share
the arguments and the result that `toplist` describes, and most compare many small strata at once, by the definition of
a pair, if they are given `strata.Starts`. The modules of the second table serve them, a module only those above it.

=============  ======================================  ==============================================================
module         makes                                   with the help of
=============  ======================================  ==============================================================
`taxicab`      pairs with the fewest different and     `rows`, `runs`, `costs`, `errorset`, `bitslice`,
               missing variables (§4.2)                `toplist`
`weighted`     pairs with the highest sum of weights   `taxicab` with its helpers, `costs`
               of levels (§4.6)
`patterns`     pairs by comparison pattern (§4.6)      `coding`, `pattern_search`, `pattern_cells`, `toplist`
`euclidean`    nearest pairs (§4.3)                    `coding`, `boxes`, `buffers`, `search`, `steps`, `toplist`
`adhoc`        pairs with the highest sum of scores    `coding`, `boxes`, `buffers`, `search`, `toplist`, `lanes`,
               (§4.4)                                  `adhoc_rules`, `adhoc_profiles`, `adhoc_query`,
                                                       `adhoc_index`, `adhoc_search`
`blocks`       the same for scores of a function       `toplist`
`winkler`      pairs that agree on most variables      `toplist`
               (§4.5)
`closest`      pairs that are closest on m variables   `neighbours`, `toplist`
               (§4.5)
`neighbours`   distances to the g-th nearest value     `compiling` only
               (§4.5)
`unicity`      pairs of shared sample uniques (§4.1)   `coding`, `cells`, `unicity_search`, `unicity_pairs`
`suda`         minimal sample uniques (§7)             `coding`, `cells`, `suda_search`
`matching`     points of a group inside a box (§8)     `compiling` only
`pooling`      points with the largest match           `compiling` only
               probability over several files (§8)
`keysets`      cells of a set of keys, and their       `compiling` only
               records by the rank of a target
               (§7.5, §12)
`attributes`   what the cells of a key tell about a    `keysets`
               target (§12)
`diversity`    how diverse a target is in the cells    `keysets`
               of a key (§7.5)
`logistic`     sums of a logistic regression (§13)     `compiling` only
=============  ======================================  ==============================================================

==================  =================================================================================================
`compiling`         the three decorators, and where compiled code is cached
`coding`            columns of codes: counted, compacted, numbered (without compiled code)
`bits`              words of 64 bits and the instructions on them
`toplist`           the rank filter as a stream, and work in threads (§5)
`rows`              categories of both files numbered across all variables, for taxicab and weights
`runs`              ranges of records sorted by a category
`costs`             what a different or missing value adds to a level: alike for all variables, or by variable
`pattern_search`    the search for the pairs that agree on each set of variables
`pattern_cells`     records as words of codes; the pairs of a cell by their states, and by what their records miss
`bitslice`          taxicab's scan of all pairs of two sets of records, 512 at a time
`errorset`          taxicab's refinement of sets of records, down to sets that `bitslice` compares
`boxes`             EIF records in leaves, groups and their boxes
`buffers`           what a search through boxes works on
`search`            euclidean's search through boxes; a metric implements five functions for it
`strata`            all pairs of many small strata, by the definition of a metric
`adhoc_rules`       the rules of adhoc in plain arrays
`adhoc_definition`  the cost of a pair in small strata, by adhoc's rules as they are
`lanes`             64 records side by side, a byte of each
`adhoc_profiles`    what each category of the PUF costs in bytes under a table
`adhoc_query`       what the rules say about a PUF record: exact costs, and lower bounds in bytes
`adhoc_index`       the EIF in two trees of boxes of bytes
`adhoc_search`      adhoc's search through both trees
`cells`             cells of records and their splitting, for unicity and SUDA
`unicity_search`    unicity's searches in cells
`unicity_pairs`     unicity's pairs, each with its best set
`suda_search`       SUDA's search in cells
==================  =================================================================================================

Results are exact: they equal the definitions of METHODS, whatever the number of threads and the sizes of blocks. The
arguments for that are in the docstrings of these modules:

- ties at the last rank: `toplist`;
- no pair is lost or entered twice in taxicab: `errorset`; the count of differences: `bitslice` and `bits`;
- every pair has one pattern: `patterns`;
- no pair is left out by a bound: `search`; the bounds in single precision: `euclidean`, `steps`;
- no pair is left out or entered twice in adhoc: `adhoc_search`; the bounds in bytes: `adhoc_query`, `adhoc_index`;
- no pair is left out among the closest: `closest`;
- no set and no pair is left out in unicity: `unicity`; the order of sets: `unicity_pairs`;
- every minimal sample unique is noted once: `suda`;
- what rounding could decide in sums of match probabilities: `pooling`;
- sums of fractions do not depend on the order of records: `attributes`.
"""
