"""From a project's files to published artifacts: configuration, compilation, fingerprints, plan and apply.

Modules are imported one by one, since `strata check` needs none of the heavy ones.
"""
