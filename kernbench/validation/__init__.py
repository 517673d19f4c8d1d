"""The model beside references that others made: ``kernbench validate``.

The tables are data, ``configs/validation/*.yaml``: what is measured, on what, the reference's figure with its
source, and how far the two may lie apart. A module here measures the rows of each table.
"""

from __future__ import annotations

from kernbench.validation.compared import ComparedFigure, Report
from kernbench.validation.running import tables, validate

__all__ = ["ComparedFigure", "Report", "tables", "validate"]
