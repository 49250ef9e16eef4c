"""Tell the user on stderr what a run does that nobody asked for."""

from fwlab.streams import stderr


def say(sentence: str) -> None:
    """Print a sentence as one line on stderr, above a bar of progress."""
    from tqdm import tqdm

    tqdm.write(f"fwlab: {' '.join(sentence.split())}", file=stderr())
    stderr().flush()
