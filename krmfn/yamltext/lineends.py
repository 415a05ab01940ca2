"""Line ends of Windows: a text whose lines all end so is edited without them, and gets them back on every line."""

__all__ = ["ended", "is_of_windows", "like", "of", "of_file"]


def is_of_windows(text: bytes) -> bool:
    """Return True for a text with lines, all of which end with a carriage return and a newline."""
    return b"\r\n" in text and text.count(b"\n") == text.count(b"\r\n")


def like(text: bytes, edited: bytes) -> bytes:
    """Return an edited text with the line ends that it had before."""
    return ended(edited, b"\r\n") if is_of_windows(text) else edited


def of(text: bytes) -> bytes:
    """Return how all lines of a text end; b"" for one in which they differ, or that has none."""
    if b"\r\n" not in text:
        return b"\n" if b"\n" in text else b""
    return b"\r\n" if is_of_windows(text) else b""


def ended(text: bytes, line_end: bytes) -> bytes:
    """Return a text whose lines all end so; b"": as they do."""
    plain = text.replace(b"\r\n", b"\n") if line_end and b"\r\n" in text else text
    return plain.replace(b"\n", line_end) if line_end == b"\r\n" else plain


def of_file(before: bytes, after: bytes) -> bytes:
    """Return the new text of a file with the line ends that it had; a new file has one kind, too."""
    is_mixed = b"\n" in before and not of(before)
    return after if is_mixed else ended(after, of(before) or of(after) or b"\n")
