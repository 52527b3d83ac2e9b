"""Compile-time functions: `fn` declarations and their calls become ordinary models, before any name is looked up.

`types` and `values` are what they compute with, `builtins` the functions that are always there. `signatures` and
`check` say what can be said of a function without a call, `templates` what a model within one holds of it. `evaluate`
and `instantiate` are a call, `generation` all calls of a project, and `expansion` puts the models in the place of the
calls. `told` tells what is found in the models once, at their template. Later passes see models as if they had been
written by hand.
"""
