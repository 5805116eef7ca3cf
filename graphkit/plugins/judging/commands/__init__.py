"""The commands ``grade``, ``judge`` and ``cache``."""
