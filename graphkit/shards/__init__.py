"""Work on shards: files, byte ranges and groups of rows, on one process or on many machines, with the same result."""

#: The modules that plug-ins may import.
__all__ = ["chunks", "driver_link", "driver_service", "event_loop", "executors", "locations", "processes", "work"]
