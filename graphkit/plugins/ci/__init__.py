"""The whole job of a CI: baselines, comparison with one, all gates, comments, and comparisons as JUnit."""
