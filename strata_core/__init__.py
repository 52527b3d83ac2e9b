"""Strata's core: the typed table language, its analysis, planning, engines and store. Knows no Dagster."""
