"""What of a study may leave: rounding, suppression, and the audit of everything that is published (METHODS §11)."""
