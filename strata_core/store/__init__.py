"""The store: tables on disk, and the artifacts of models. Everything that is committed is an entry of a log."""
