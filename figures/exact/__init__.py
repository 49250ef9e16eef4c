"""Exact worst cases and rates of Frank-Wolfe, which figures draw and the ledger's proofs use."""
