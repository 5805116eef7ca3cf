"""Asking a language model: the client, prices, the cache of replies, and batches."""

#: The modules that plug-ins may import.
__all__ = ["anthropic_model", "budget", "cache", "event_loop", "prices", "requests"]
