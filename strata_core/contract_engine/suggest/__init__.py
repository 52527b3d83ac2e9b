"""Suggestion mode: what contracts lack is proposed on a branch of its own, for people to review (Seed 2, step 9).

`proposals` finds what to change, `edits` changes YAML so that its comments, order and style stay, `branch` commits it
without touching what is checked out, `body` says it to reviewers, `hosting` opens the pull request.
"""
