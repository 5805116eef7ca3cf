"""Forms and tools of others: what they hold becomes records and scores, and the other way round."""
