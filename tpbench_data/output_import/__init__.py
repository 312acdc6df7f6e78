"""Outputs that people already have, as a run folder: plain JSON Lines, Inspect logs, lm-eval sample logs."""
