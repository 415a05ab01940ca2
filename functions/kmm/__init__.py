"""KMM's checks, offline: the API server's, the webhook's, and lints about what neither refuses."""
