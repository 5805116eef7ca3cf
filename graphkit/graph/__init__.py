"""What is in the graph: queries, loading of datasets, runs and git history, and what a run did wrong."""
