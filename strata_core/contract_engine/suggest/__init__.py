"""Suggestion mode: what contracts lack is proposed on a branch of its own, for people to review (Seed 2, step 9).

`proofs`, `known`, `foreign_keys` and `evidence` gather what the compiler, other contracts and rows say, `proposals`
finds what to change (a module per kind), `declines` leaves out what people turned down, `edits` changes YAML so that
its comments, order and style stay, `body` says it to reviewers, `suggested` holds these together; `branch` commits it
without touching what is checked out, `hosting` opens the pull request.
"""
