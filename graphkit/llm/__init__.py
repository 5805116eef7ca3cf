"""Asking a language model: the client, prices, the cache of replies, and batches."""
