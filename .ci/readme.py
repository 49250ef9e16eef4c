"""Run every code block of README.md in order, as a reader pastes it: python .ci/readme.py

A block without a language goes to bash, a python block to the README's own environment; each is a
process of its own in the current folder. Blocks of other languages, such as
BibTeX, are not run. Ends with the exit code of the first block that fails.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = {"": ["bash", "-euo", "pipefail", "-c"], "python": [".venv/bin/python", "-c"]}


def main() -> int:
    found = BLOCK.findall(Path("README.md").read_text("utf-8"))
    blocks = [(language, code) for language, code in found if language in COMMANDS]
    if not blocks:
        print("README.md holds no code block.", file=sys.stderr)
        return 1
    for number, (language, code) in enumerate(blocks, 1):
        print(f"\n== README, block {number} of {len(blocks)}\n{code}", flush=True)
        began = time.monotonic()
        code_of_exit = subprocess.run([*COMMANDS[language], code]).returncode
        print(f"== block {number}: {time.monotonic() - began:.0f} s", flush=True)
        if code_of_exit:
            print(f"README.md: block {number} ended with {code_of_exit}.", file=sys.stderr)
            return code_of_exit
    return 0


if __name__ == "__main__":
    sys.exit(main())
