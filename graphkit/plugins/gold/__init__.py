"""Published gold, one file a format: their rows as questions, what each format lacks, and the graphs of queries."""
