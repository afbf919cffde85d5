"""Memories by name, in a folder or on a server, and the ones this process has open."""

from memory_core.memories.folder import ENDING, FolderMemories
from memory_core.memories.opened import OpenMemory
from memory_core.memories.place import Memories, checked, exported
from memory_core.memories.places import chosen_place, first_name, on_server

__all__ = [
    "ENDING", "FolderMemories", "Memories", "OpenMemory", "checked", "chosen_place", "exported", "first_name",
    "on_server",
]  # fmt: skip
