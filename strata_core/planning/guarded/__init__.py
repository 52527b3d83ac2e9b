"""Tables that are made elsewhere, guarded by a contract and kept beside the models (Seed 0 §5 C)."""
