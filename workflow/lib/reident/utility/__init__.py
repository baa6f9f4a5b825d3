"""Utility: the effect of protection on the data, as released records against the same ones before (METHODS §13)."""
