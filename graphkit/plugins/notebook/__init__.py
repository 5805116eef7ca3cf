"""The board of some results, the spine of a question, and its graphs, for a notebook."""
