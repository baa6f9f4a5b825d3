"""What other tests make of the search for coarser values."""

from making.changes import Change

CHANGES: dict[str, list[Change]] = {
    "linked": [{"why": {"suggest": True}, "decision": {"confirmed_rate_at_most": "0.1"}}]
}


HOUSEHOLDS: Change = {"why.suggest": True}
ATTACKED_AGAIN = {
    "step": "try_recodings",
    "sections": {"decision": {"conditional_rate_at_most": "0.1"}},
    "for_changes_of": {
        "the interval", "what scoring keeps", "the rank limit", "the number of bins", "α",
        "the order of categories, which counts for weights",
    },
    "for_options": {"decision": {"conditional_rate_at_most": "0.2"}},
}  # fmt: skip
