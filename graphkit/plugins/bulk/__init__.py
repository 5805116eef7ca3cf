"""A new database filled by its batch importer, which is faster than Bolt."""

#: The plug-ins that it imports.
NEEDS = ("embedded",)
