"""Generated code run on the tests of its question, behind a wall."""
