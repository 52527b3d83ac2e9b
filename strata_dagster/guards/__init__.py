"""`guard`: the write pin on assets that others make."""
