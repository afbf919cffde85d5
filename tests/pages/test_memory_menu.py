"""The sidebar's memories."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_core.errors import FormatError
from memory_core.memories import FolderMemories
from pages._ui.memory_menu import _imported


def test_a_file_that_cannot_be_imported_is_named_as_the_person_knows_it(tmp_path: Path) -> None:
    memories = FolderMemories(tmp_path)
    with pytest.raises(FormatError, match=r"^backup of May\.json is damaged"):
        _imported(memories.create("new"), "backup of May.JSON", b'{"a":')
    memories.close()
