"""The served page, and the grades that it keeps."""
