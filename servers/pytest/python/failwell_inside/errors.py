"""Errors during collection: what, where, and why."""

import os
import re
import traceback

from .text import LONGEST_MESSAGE, LONGEST_PATH, LONGEST_TEXT, cut, text_of


def error_of(error, path):
    """Type, message and line of an error during collection."""
    details = {}
    if type(error).__name__ == "ConftestImportFailure":
        path = details["path"] = text_of(error.path, LONGEST_PATH)
        inner = getattr(error, "cause", None) or getattr(error, "excinfo", None)
        error = inner[1] if isinstance(inner, tuple) else inner or error
    if type(error).__name__ == "CollectError" and getattr(error, "__cause__", None) is not None:
        error = error.__cause__
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    trace = getattr(error, "__traceback__", None)
    while trace is not None and not isinstance(error, SyntaxError):
        if path and trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    details.update(type=type(error).__name__, msg=text_of(error, LONGEST_MESSAGE), line=line)
    return details


def error_in_text(text):
    """The same from pytest's own account, for errors that come from another process."""
    found = {"type": "Error", "msg": "", "line": None}
    for line in text.splitlines():
        head, _, rest = line[4:].partition(": ") if line.startswith("E   ") else ("", "", "")
        name = head.strip()
        if name and name.replace(".", "").replace("_", "").isalnum() and name[:1].isalpha() and head == name:
            found["type"], found["msg"] = name.rsplit(".", 1)[-1], rest
        elif line.startswith("E     File ") and ", line " in line:
            digits = line.rsplit(", line ", 1)[1].strip()
            found["line"] = int(digits) if digits.isdigit() else None
        frame = re.match(r"(\S.*\.py):(\d+): in <module>$", line)
        if frame and not os.path.isabs(frame.group(1)):
            found["path"], found["line"] = frame.group(1), int(frame.group(2))
    if not found["msg"] and text.strip():
        found["msg"] = cut(text.strip().splitlines()[-1], LONGEST_MESSAGE)
    return found


def error_in_trace(text, root):
    """The place in the project where a module left with SystemExit, from the account of another process."""
    frame = None
    for line in text.splitlines():
        line = line.lstrip("E ").strip()
        found = re.match(r'File "(.+)", line (\d+), in <module>$', line)
        if found and found.group(1).startswith(os.path.join(root, "")):
            frame = found
        elif frame is not None and re.match(r"SystemExit(: |$)", line):
            return {"path": frame.group(1), "line": int(frame.group(2)), "type": "SystemExit", "msg": line.partition(": ")[2]}
    return None


def trace_of(problem):
    """The traceback of an error in a conftest, without the frames between pytest and the project."""
    inner = getattr(problem, "cause", None) or getattr(problem, "excinfo", None) or problem
    error = inner[1] if isinstance(inner, tuple) else inner
    try:
        frames = traceback.extract_tb(error.__traceback__)
        kept = [f for f in frames if "/_pytest/" not in f.filename and "/pluggy/" not in f.filename and not f.filename.startswith("<frozen")]
        lines = traceback.format_list(kept) + traceback.format_exception_only(type(error), error)
        return cut("".join(lines), LONGEST_TEXT)
    except Exception:
        return text_of(problem)
