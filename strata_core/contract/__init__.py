"""THE table contract and its conformance phases: authoring (A) and the write pin (C) (Seed 0 §3, §5)."""
