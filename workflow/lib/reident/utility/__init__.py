"""What protection does to the data: released records compared with the same records before (METHODS §13)."""
