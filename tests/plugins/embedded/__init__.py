"""The embedded database: its life, its files, and what happens when either is damaged."""
