"""Execution of tests on the embedded engine, where the rows are in reach (Seed 2, step 5): `statements` says an
expectation as SQL, `masks` says what of an answer may be shown, `run` asks and tells the outcome."""
