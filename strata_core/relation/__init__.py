"""The relation: the typed algebra between language and engines, with keys, origins and proven facts."""
