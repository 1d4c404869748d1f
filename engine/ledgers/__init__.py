"""Append-only logs. The event log in ``ledger.db`` is the truth that nothing else may rewrite."""
