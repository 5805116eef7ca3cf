"""Access: what a run read, showed or told that its principal may not read, and whether it had an influence."""

#: The plug-ins that it imports.
NEEDS = ("systems",)
