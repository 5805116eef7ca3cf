"""Doubts about a record that an import writes and other code recognises."""

from __future__ import annotations

#: An agent opened whole files, and gold names symbols.
OPENED_FILES = (
    "whole files were opened, and gold names symbols: which edges were followed isn't known, and "
    "EdgeRecall(files=True) compares the files"
)
#: No edge lies between what is known to be opened, and of some calls it isn't known what they opened.
UNKNOWN_WALK = "of some calls it isn't known what they opened, and the others follow no edge: the walk isn't known"
#: Some names are drawn ids, and the dataset doesn't know them.
DRAWN_IDS = (
    "names that are ids of the library's own, and unknown to the dataset, aren't compared: log the names too, or map "
    "the ids by a table (--ids)"
)
#: Something was opened, and the dataset knows none of it.
UNKNOWN_NAMES = "the dataset knows nothing that was opened, so the walk isn't known"
#: Results of calls hold edges, and the dataset knows an end of some only.
OTHER_SHOWN = "results of calls hold edges neither of whose ends the dataset knows: these don't count as walked"
#: Results of calls hold edges, and the dataset knows no end of them.
UNKNOWN_SHOWN = "results of calls hold edges, and the dataset knows none of their ends: the walk isn't known"
#: Results list the edges of what was opened, and nothing else was opened.
ONLY_LISTED = (
    "results list edges of what was opened, and none of these was followed by a later call: the walk isn't known"
)
ONLY_ELEMENT_IDS = (
    "nodes are named by Neo4j's elementId only, which is another in each database, so they are left out: let the query "
    "return what names them, or give a table of ids"
)
NAMELESS = "something retrieved has no name: it keeps its rank, and stands for nothing that the dataset knows"
NO_NAMES = "nothing retrieved has a name, so what was retrieved is unknown"
#: A list of parts, of calls or of what was found has a part of which nothing is read.
UNREAD_PARTS = "parts of it aren't read, since their kind isn't known: what they hold is missing"
#: Nothing of a record was read but its question.
NOTHING = "nothing in them is what this format writes: only what stands around it was read"
#: A record doesn't state ``abstained``, and whether it declines matters.
READ_DECLINED = "whether it declines is read from the words of its answer, since the record doesn't state abstained"
#: The same, and a judge has said so.
JUDGED_DECLINED = "whether it declines is the verdict of a judge, since the record doesn't state abstained"
#: A record states that it doesn't decline, and says nothing.
BLANK_ANSWER = "it states abstained: false, and its answer is blank: it counts as answered"
#: All doubts whether a record declines, of which a record has one.
OF_DECLINING = (READ_DECLINED, JUDGED_DECLINED, BLANK_ANSWER)
