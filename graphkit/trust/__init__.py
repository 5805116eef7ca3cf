"""How far a judge can be trusted: against people, against itself, and against another judge."""
