"""What a PATH is: roots, files and folders, Git, and what of it may be read or written."""
