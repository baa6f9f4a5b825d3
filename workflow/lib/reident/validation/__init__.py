"""Every error and every warning of a study and its files at once, before anything is computed.

The checks are those of the steps: what they refuse is noted here, left out, and the same function is called again, so
that a check which a step learns is a check of this room too.
"""
