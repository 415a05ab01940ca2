"""What a PATH is: roots, files, folders and Git, and which files may be read or written."""
