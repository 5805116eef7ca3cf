"""Records to scores: from files, in the graph, in batches; results, and the files they are written to."""
