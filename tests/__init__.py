"""The tests, in folders that mirror graphkit."""
