"""Clusters of Dask and Ray as executors of shards."""
