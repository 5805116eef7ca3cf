"""The folder that stands on the path of every Python that a test starts: see ``sitecustomize``."""
