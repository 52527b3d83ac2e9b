"""The contract engine: a compiler for data product contracts (Seed 2).

`discover → parse → collate → validate → evaluate tests → project → docs → publish | suggest`: each step is a module
with one entry function over frozen values. Only discover and parse read the tree, only publish and suggest write.
"""
