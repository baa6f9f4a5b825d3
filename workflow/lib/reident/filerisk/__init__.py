"""Risk of one file: sample uniques, DIS, SUDA, DIS-SUDA (METHODS §7)."""
