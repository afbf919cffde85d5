"""What was read from the turns of a memory, from its stored rows alone: turn by turn, in sum, pair by pair."""
