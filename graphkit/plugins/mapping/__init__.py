"""A mapping for logs of a form that no reader knows, proposed by the values of their fields."""
