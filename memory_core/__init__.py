"""Graph-based long-term memory with forgetting that is planned, looked at, then applied."""
