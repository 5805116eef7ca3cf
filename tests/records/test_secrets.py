"""Known secrets, which no printed or stored text holds."""

from __future__ import annotations

import json

import pytest

from graphkit.records.secrets import MASK, masked, masked_message, masked_value, remember

KEY = 'sk-0123"456789/abcdef'


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    monkeypatch.setenv("NEO4J_URI", "bolt://me:pass%2Fw0rd!@localhost:7687")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Gate: gate-secret-77")
    monkeypatch.setenv("NEO4J_PASSWORD", "neo4j")


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        json.dumps(KEY)[1:-1],
        "sk-0123%22456789%2Fabcdef",
        "sk-0123&quot;456789/abcdef",
        "pass/w0rd!",
        "gate-secret-77",
    ],
)
def test_a_secret_is_masked_in_each_form(form: str) -> None:
    """A secret is masked as it is, in JSON, in an address and in HTML; so are passwords of addresses and headers."""
    assert masked(f"your key {form} is odd") == f"your key {MASK} is odd"
    assert masked_value({"a": [f"<{form}>"], form: 1}) == {"a": [f"<{MASK}>"], MASK: 1}


def test_a_short_secret_is_no_secret() -> None:
    """A password of five letters isn't masked, since it is a word of many answers."""
    assert masked("neo4j is a database") == "neo4j is a database"


def test_a_secret_that_is_a_part_of_a_word_stays() -> None:
    """A password of ten letters is masked only as a whole word."""
    remember("swordfish1")
    assert masked("swordfish1 swordfish12") == f"{MASK} swordfish12"


def test_messages_lose_what_addresses_hold() -> None:
    """Unknown passwords and tokens in addresses are masked."""
    said = "see https://me:hunter2@host/x and http://host/?q=1&api_key=abc&b=2"
    assert masked_message(said) == f"see https://{MASK}@host/x and http://host/?q=1&api_key={MASK}&b=2"
