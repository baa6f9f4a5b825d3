"""Compiled inner loops: plain arrays in, plain arrays out (METHODS §1, §4, §7, §8, §12).

Nothing here knows a study, a table or a file. Callers use the modules below; each has one public function, which checks
its arguments (`keysets` has two: cells are numbered once for all targets; `patterns` has a class, to which strata are
added). The other modules serve them.

- pairs of records, ranked as `toplist` describes: `taxicab` (§4.2), `weighted` and `patterns` (§4.6), `euclidean`
  (§4.3), `adhoc` and, for scores of a function, `blocks` (§4.4), `winkler`, `closest` and `neighbours` (§4.5),
  `unicity` (§4.1); most compare many small strata at once, by the definition of a pair, if given `strata.Starts`;
- one-to-one pairs: `assignment` (§4.6);
- one file: `suda` (§7), `keysets` with `diversity` (§7.5) and `attributes` (§12), `groups` (§9);
- several files: `matching` and `pooling` (§8), `logistic` (§13).

Results are exact: they equal the definitions of METHODS, whatever the number of threads and the sizes of blocks. The
arguments for that are in the docstrings of these modules:

- ties at the last rank: `toplist`;
- no pair is lost or entered twice in taxicab: `errorset`; the count of differences: `bitslice` and `bits`;
- every pair has one pattern: `patterns`;
- no pair is left out by a bound: `search`; the bounds in single precision: `euclidean_costs`;
- no pair is left out or entered twice in adhoc: `adhoc_search`; the bounds in bytes: `adhoc_query`, `adhoc_index`;
- no pair is left out among the closest: `closest`;
- no set and no pair is left out in unicity: `unicity`; the order of sets: `unicity_pairs`;
- every minimal sample unique is noted once: `suda`;
- what rounding could decide in sums of match probabilities: `pooling`;
- sums of fractions do not depend on the order of records: `attributes`.
"""
