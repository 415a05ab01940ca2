"""What is known of each field of our kinds: its type, how it merges, where it ends up, since which KMM, an example."""
