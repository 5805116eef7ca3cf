"""Scripts for bash, zsh and fish that complete commands, options and values."""

#: The section of `graphkit --help` in which its command stands.
SECTION = "more"
