"""The page, served on this machine: it follows the files of its runs, and keeps a person's grades."""

#: The section of `graphkit --help` in which its command stands.
SECTION = "understand"
