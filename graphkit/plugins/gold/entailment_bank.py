"""EntailmentBank: the steps of a proof, from sentences through conclusions to a hypothesis."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from graphkit.plugins.gold.formats import GoldFormat
from graphkit.plugins.gold.public_rows import GoldRow, UnusableRowError

_PREMISE = re.compile(r"(?:sent|int)\d+\Z")
#: The text of the conclusion may follow a colon.
_CONCLUSION = re.compile(r"(?P<name>int\d+|hypothesis)\s*(?::|\Z)")


class EntailmentBank(GoldFormat):
    """Reads ``proof``: each premise of a step leads to its conclusion, and all steps are one path."""

    name = "entailment-bank"
    title = "EntailmentBank: the steps of a proof"
    told_by = ("question", "proof")
    lacks = (
        "A step has no kind: the edge from a premise to its conclusion has no relation, and none is compared.",
        "Conclusions, and sentences that aren't in WorldTree, have no ids: they are named by the question and their "
        "place, such as QUESTION/int1.",
        "The premises of a step have no order; they are kept in the order of the proof.",
    )

    def question(self, row: GoldRow) -> dict[str, Any]:
        name, proof, meta = row.name("id"), row.text("proof"), row.get("meta") or {}
        known = _uuids(meta.get("worldtree_provenance") if isinstance(meta, dict) else None)
        steps, sentences = [], dict[str, float]()
        for premises, conclusion in _steps(proof):
            target = f"{name}/{conclusion}"
            for premise in premises:
                source = known.get(premise) or f"{name}/{premise}"
                steps.append({"source": source, "target": target})
                if premise.startswith("sent"):
                    sentences[source] = 1.0
        return {
            "id": name,
            "question": row.text("question"),
            "gold_answer": row.optional_text("answer"),
            "paths": [{"steps": steps}],
            "relevant": sentences,
        }


def _steps(proof: str) -> list[tuple[list[str], str]]:
    """Return the premises and the conclusion of each step: ``sent1 & int2 -> int3: its text; ...``."""
    steps = []
    for part in proof.split(";"):
        if "->" not in part:
            continue  # the end, or more of a text that holds a semicolon
        before, _, after = part.partition("->")
        premises = [premise.strip() for premise in before.split("&")]
        found = _CONCLUSION.match(after.strip())
        if found is None or not all(_PREMISE.match(premise) for premise in premises):
            raise UnusableRowError(f"a step of the proof must be such as 'sent1 & sent2 -> int1', not {part[:80]!r}")
        steps.append((premises, found["name"]))
    if not steps:
        raise UnusableRowError(f"the proof must be steps such as 'sent1 & sent2 -> int1', not {proof[:80]!r}")
    return steps


def _uuids(provenance: Any) -> dict[str, str]:
    """Return the WorldTree ids of sentences, except empty ones."""
    if isinstance(provenance, Mapping):
        items = [(name, one.get("uuid")) for name, one in provenance.items() if isinstance(one, Mapping)]
    elif isinstance(provenance, list):
        items = [(one.get("sent_id"), one.get("uuid")) for one in provenance if isinstance(one, Mapping)]
    else:
        return {}
    return {name: uuid for name, uuid in items if isinstance(name, str) and isinstance(uuid, str) and uuid}
