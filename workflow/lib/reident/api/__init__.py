"""The functions that `import reident` gives: studies in memory, without a file written."""
