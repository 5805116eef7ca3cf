"""What tests share: small worlds, command lines, databases and servers."""

from pathlib import Path

#: The checkout.
ROOT = Path(__file__).resolve().parents[2]
