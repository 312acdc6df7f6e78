"""Audits: what a validator cannot call wrong but a user of the benchmark should know, in counts and examples."""
