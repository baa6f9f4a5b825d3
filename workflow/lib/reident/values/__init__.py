"""Confirmation by values: what a released file without records of people tells about single persons (METHODS §14)."""
