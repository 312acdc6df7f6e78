"""Turns a release plus a reader (a language model) into saved outputs."""
