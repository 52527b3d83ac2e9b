"""The editor's view: `strata lsp`, a language server. Thin: what is known comes from `analysis` and `planning`."""
