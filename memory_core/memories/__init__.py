"""Memories by name, in a folder or on a server, and the ones this process has open."""

from memory_core.memories.folder import ENDING, FolderMemories
from memory_core.memories.opened import OpenMemory
from memory_core.memories.place import Memories, checked, exported

__all__ = ["ENDING", "FolderMemories", "Memories", "OpenMemory", "checked", "exported"]
