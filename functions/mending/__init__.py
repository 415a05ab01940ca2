"""What `check --fix` mends: findings with a mend in, edits of files out; and whether these do no more than that."""
