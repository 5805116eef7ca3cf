"""Live runs of other libraries: a version that logs, or measures tool calls, in another way fails here."""
