"""The main job on the bundled storefront, from files to explained failures."""

#: The plug-ins that it imports.
NEEDS = (
    "compare",
    "judging",
    "sandbox",
)

#: The section of `graphkit --help` in which its command stands.
SECTION = "start"
