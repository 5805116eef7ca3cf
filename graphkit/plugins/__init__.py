"""Plug-ins: what graphkit does beside its main job, a folder each, which the core doesn't import.

A plug-in registers by entry points what it adds, and imports the doors of the core only: the modules that the
``__all__`` of a room names. What its ``NEEDS`` names of other plug-ins it may import, too.
"""
