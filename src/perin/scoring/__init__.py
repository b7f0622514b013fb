"""Exact scores of meaning graphs."""
