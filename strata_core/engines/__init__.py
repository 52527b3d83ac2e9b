"""Engines: a relation in, Arrow batches out. One folder per engine, one conformance suite for all."""
