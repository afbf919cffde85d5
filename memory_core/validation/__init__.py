"""Nothing reaches a memory unread: every reply, rule-made extraction and imported graph passes here first.

>>> from memory_core.validation import read_reply
>>> found = read_reply('{"nodes": {"n1": {"label": "City", "title": "Ghent", "content": ""}}, "edges": {}}')
>>> found.status, found.reason
('rejected', 'node n1 (Ghent): undefined label City')
"""

from memory_core.validation.items import (
    MAX_ATTRIBUTES,
    MAX_CONTENT,
    MAX_EDGES,
    MAX_NODES,
    MAX_TITLE,
    OnInvalid,
    validate,
)
from memory_core.validation.reply import MAX_REPLY, json_object, read_reply, without_reasoning

__all__ = [
    "MAX_ATTRIBUTES",
    "MAX_CONTENT",
    "MAX_EDGES",
    "MAX_NODES",
    "MAX_REPLY",
    "MAX_TITLE",
    "OnInvalid",
    "json_object",
    "read_reply",
    "validate",
    "without_reasoning",
]
