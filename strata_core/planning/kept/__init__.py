"""Results of compilation kept by content, in memory, on disk and as the manifest of a deployment."""
