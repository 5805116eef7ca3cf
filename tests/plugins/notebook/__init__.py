"""The board and the spine in a notebook."""
