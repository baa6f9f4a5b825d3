"""The blocks of the report, by section: its texts, tables and figures."""

from __future__ import annotations
