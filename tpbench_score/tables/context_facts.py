"""What a free-form context still holds; the builder audits with the same functions, so they live in `tpbench_data`."""

from __future__ import annotations

from tpbench_data.context_facts import boundary_recall, lexical_retention

__all__ = ["boundary_recall", "lexical_retention"]
