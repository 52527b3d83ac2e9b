"""What editors ask of a program: the names in it, what fits at a place, renames."""
