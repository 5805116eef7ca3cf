"""The board of some results and the spine of a question, drawn in a notebook."""
