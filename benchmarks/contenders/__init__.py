"""The contenders: each module is a program that reads a dataset's files and prints its means as JSON."""
