"""Work on shards: files, byte ranges and groups of rows, on one process or on many machines, with the same result."""
