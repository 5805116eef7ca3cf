"""Two runs or more compared question by question, from logs, results, files of scores or the graph, with gates."""
