"""Retrieval as a person looks at it: parameters to set, what to know before reading a result, vectors made ahead."""
