"""Line ends of Windows: a text whose lines all end so is edited without them, and gets them back on every line."""

__all__ = ["is_of_windows", "like"]


def is_of_windows(text: bytes) -> bool:
    """Return True for a text with lines, all of which end with a carriage return and a newline."""
    return b"\r\n" in text and text.count(b"\n") == text.count(b"\r\n")


def like(text: bytes, edited: bytes) -> bytes:
    """Return an edited text with the line ends that it had before."""
    return edited.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") if is_of_windows(text) else edited
