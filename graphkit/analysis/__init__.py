"""Scores to judgement: layers, gates, comparison, paired statistics, summaries, dataset checks."""
