"""Procedures that show how far a judge can be trusted: against people, itself, and another judge."""
