"""Models with partitions of time: planned, computed and published period by period."""
