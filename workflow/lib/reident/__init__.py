"""Re-identification studies of public use files."""
