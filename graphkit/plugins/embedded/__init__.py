"""The embedded database: a server in a process of its own, its clients, and the locks between them."""
