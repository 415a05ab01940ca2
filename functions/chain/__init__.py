"""Why a node has no driver: KMM's chain from Git to the kernel, a file a link; pure: dump and plan in, links out."""
