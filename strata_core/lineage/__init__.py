"""Where columns come from and what depends on them: the graph of a project's columns, and what a change reaches."""
