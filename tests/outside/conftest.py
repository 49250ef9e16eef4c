"""The package of a visitor, importable without being installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "visitor_package"))
