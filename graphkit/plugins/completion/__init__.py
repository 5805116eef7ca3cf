"""Scripts for bash, zsh and fish that complete commands, options and values."""
