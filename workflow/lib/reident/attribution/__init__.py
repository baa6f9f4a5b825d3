"""Attribute disclosure: the information about a person in a released file (METHODS §12)."""
