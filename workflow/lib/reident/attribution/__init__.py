"""Attribute disclosure: what could be learnt about a person from a released file (METHODS §12)."""
