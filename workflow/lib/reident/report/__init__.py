"""The report: a notebook executed, and rendered to HTML and PDF."""
