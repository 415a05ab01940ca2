"""`make release` and `make release-check`: what is published, the same bytes from every clone of a commit."""
