"""What comes in from files: transcripts to remember, and memories of other systems."""
