"""Carrying out a plan: compute, pin, publish in one step (design `architecture.md`, "The flow")."""
