"""The room ``shards``."""
