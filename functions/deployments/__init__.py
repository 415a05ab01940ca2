"""Who deploys which root to which cluster, and how: what the engines' own objects in a repository say."""
