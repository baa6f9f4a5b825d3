"""Micro-aggregation by individual ranking: the protection, and the files of a study that attacks it (METHODS §9)."""
