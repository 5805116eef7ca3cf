"""graphkit against its peers and against the bare work, as ratios of one run: ``make bench``."""
