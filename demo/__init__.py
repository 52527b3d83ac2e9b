"""The demo's data: where it comes from, and the batches of the walk-through in the README."""
