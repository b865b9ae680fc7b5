"""Texts of any length and any making, cut to what a reader wants."""

LONGEST_TEXT = 65536
LONGEST_MESSAGE = 8192
LONGEST_SECTION = 16384
LONGEST_PATH = 4096


def cut(text, limit):
    """The head and the tail of a long text."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return "%s\n... %d characters left out ...\n%s" % (text[:half], len(text) - 2 * half, text[-half:])


def text_of(thing, limit=LONGEST_TEXT):
    try:
        return cut(str(thing), limit)
    except Exception as problem:
        return "<a %s that cannot be shown: %s>" % (type(thing).__name__, type(problem).__name__)
