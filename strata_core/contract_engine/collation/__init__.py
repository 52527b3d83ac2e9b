"""Contracts, fragments and what tools know become one candidate per product (Seed 2, step 3)."""
