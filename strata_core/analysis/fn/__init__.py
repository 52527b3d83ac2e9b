"""Compile-time functions: `fn` declarations and their calls become ordinary models, before any name is looked up.

`types` and `values` are what they compute with, `builtins` the functions that are always there, `signatures` and
`check` what can be said of a function without a call, `evaluate` and `instantiate` a call, and `expansion` puts the
generated models in the place of the calls. Later passes see models as if they were written by hand.
"""
