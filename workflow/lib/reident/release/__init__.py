"""Release of results: rounding, suppression, and the audit of everything that is published (METHODS §11)."""
