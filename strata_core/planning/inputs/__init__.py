"""Where the rows of sources are, what identifies their content, and whether they have moved."""
