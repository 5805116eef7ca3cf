"""Evaluation inside a coding agent: tools and resources of the Model Context Protocol."""
