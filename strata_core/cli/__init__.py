"""The `strata` command: parse arguments, call one function, render. Verbs load what they need when used."""
