"""The report: one self-contained HTML page with summary, figures, tables and single answers.

Public: ``build_report``. The page loads nothing, runs only the scripts of this folder, and is complete without them
but for the browser of single answers and the weight slider.
"""

from __future__ import annotations

from tpbench_score.report.build import DEFAULT_ITEMS, build_report

__all__ = ["DEFAULT_ITEMS", "build_report"]
