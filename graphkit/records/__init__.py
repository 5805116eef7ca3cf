"""Records without input or output: models, aliases, shapes of a traversal, ids, commits, usage."""
