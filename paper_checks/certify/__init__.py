"""Write proofs and witnesses as data that paper_checks/verify_proofs.py checks independently."""
