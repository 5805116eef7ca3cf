"""``python -m graphkit`` is ``graphkit``."""

from graphkit.cli import main

if __name__ == "__main__":
    main()
