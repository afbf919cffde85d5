"""Memories of Mem0, Graphiti and Letta in our JSON form; their own ids are kept, so that a forgetting plan names them.

Where the schemas come from:
- Mem0: `get_all` and its exports, as docs.mem0.ai documents them under "Get Memories": `results` of `id`, `memory`,
  `created_at`, `updated_at`, with graph memory also `entities` and `relations`; the open-source library gives the
  relations beside the results, their ends by name.
- Graphiti: it has no file of its own; a dump of its nodes and edges as `graphiti_core/nodes.py` and `edges.py` declare
  them (Apache 2.0): `EntityNode`, `EntityEdge`, `EpisodicNode`, `EpisodicEdge`, in lists of `nodes`, `edges`,
  `episodes`, `episodic_edges`.
- Letta: agent files (.af) as github.com/letta-ai/agent-file publishes them: `agents` with `messages` and `block_ids`,
  `blocks` with `label` and `value`; the first version's `core_memory` and `messages`; and the list of passages that its
  archival memory gives. An agent file holds no passages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memory_core.errors import FormatError
from memory_core.importers.memories.foreign import Imported, from_foreign
from memory_core.importers.transcripts.values import parse_date

Record = Mapping[str, Any]
_TITLE = 60  # characters of a sentence that names a node
#: What Mem0's categories become; a category stands for the topic of a sentence, so the rest are concepts.
_CATEGORIES = {"preferences": "Preference", "user_preferences": "Preference", "goals": "Goal", "skills": "Skill"}
_ACCESSES = "no access log: frequency and last access are not known"
_TURNS = "no turns: what was said is not known, nor which words became what"


def read_other(value: object, result: Imported) -> dict[str, Any] | None:
    """A memory of another system in our form, None when it is of none that is known. What its files do not hold is
    named in `result.missing`."""
    for name, knows, read in _SYSTEMS:
        if knows(value):
            result.system = name
            return read(value, result)
    return None


# -- Mem0 --------------------------------------------------------------------------------------------------------------


def _is_mem0(value: object) -> bool:
    rows = _mem0_rows(value)
    return bool(rows) and all(isinstance(row, dict) and "memory" in row for row in rows[:5])


def _mem0_rows(value: object) -> list[Any]:
    if isinstance(value, dict):
        value = value.get("results", value.get("memories"))
    return value if isinstance(value, list) else []


def _mem0(value: Any, result: Imported) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    named: dict[str, str] = {}  # what an end of a relation may be called -> node id
    rows = [row for row in _mem0_rows(value) if isinstance(row, dict)]
    for place, row in enumerate(rows, 1):
        row_id = str(row.get("id") or f"memory{place}")
        nodes.append(_mem0_node(row_id, row, result))
        for entity in _records(row.get("entities")):
            entity_id = _entity(entity, row, named, nodes)
            edges.append({"source": row_id, "target": entity_id, "relationship": "about"})
    loose = value.get("relations") if isinstance(value, dict) else None
    for relation in (*(one for row in rows for one in _records(row.get("relations"))), *_records(loose)):
        ends = (str(relation.get(end) or relation.get("destination") or "") for end in ("source", "target"))
        source, target = (named.get(end) or _entity({"name": end}, {}, named, nodes) for end in ends)
        edges.append({"source": source, "target": target, "relationship": relation.get("relationship")})
    result.missing += (_TURNS, _ACCESSES)
    return _document(nodes, edges, result)


def _mem0_node(row_id: str, row: Record, result: Imported) -> dict[str, Any]:
    said = str(row.get("memory") or "")
    categories = [str(name) for name in _list(row.get("categories")) if isinstance(name, str)]
    label = next((_CATEGORIES[name] for name in categories if name in _CATEGORIES), "Concept")
    for name in categories[:1]:
        result.labels[f"category {name} -> {label}"] += 1
    kept = {key: row[key] for key in ("user_id", "agent_id", "run_id", "app_id", "updated_at") if row.get(key)}
    extra = row["metadata"] if isinstance(row.get("metadata"), dict) else {}
    attributes = {**extra, **kept} | ({"categories": ", ".join(categories)} if categories else {})
    return {"id": row_id, "label": label, "title": _short(said), "content": said, "attributes": attributes,
            "created_at": row.get("created_at")}  # fmt: skip


def _entity(entity: Record, row: Record, named: dict[str, str], nodes: list[dict[str, Any]]) -> str:
    """The node of an entity, made when it is met first; later it is known by its id and by its name."""
    name, own = str(entity.get("name") or ""), str(entity.get("id") or "")
    found = named.get(own or name) or named.get(name)
    if found is None:
        found = own or f"entity:{name}"
        when = row.get("created_at") or next((node["created_at"] for node in nodes), None)
        nodes.append({"id": found, "label": entity.get("type") or "Concept", "title": name, "created_at": when})
    named[name] = found
    if own:
        named[own] = found
    return found


# -- Graphiti ----------------------------------------------------------------------------------------------------------


def _is_graphiti(value: object) -> bool:
    edges = _any(value, "edges", "entity_edges")
    return any(isinstance(edge, dict) and "source_node_uuid" in edge for edge in edges[:5]) or any(
        isinstance(node, dict) and "uuid" in node and "name" in node
        for node in _any(value, "nodes", "entity_nodes")[:5]
    )


def _graphiti(value: Any, result: Imported) -> dict[str, Any]:
    nodes = [_graphiti_node(node) for node in _records(_any(value, "nodes", "entity_nodes"))]
    facts = _records(_any(value, "edges", "entity_edges"))
    document = _document(nodes, [_graphiti_edge(edge) for edge in facts], result)
    episodes = sorted(_records(_any(value, "episodes", "episodic_nodes")), key=lambda one: str(one.get("valid_at")))
    turns = [_episode(episode, result) for episode in episodes]
    _add_turns(document, [turn for turn in turns if turn], result)
    cited = [(str(edge.get("uuid")), str(uuid)) for edge in facts for uuid in _list(edge.get("episodes"))]
    ends = {str(edge.get("uuid")): (edge.get("source_node_uuid"), edge.get("target_node_uuid")) for edge in facts}
    cited += [(str(end), episode) for edge, episode in cited for end in ends[edge]]
    mentions = _records(_any(value, "episodic_edges", "mentions"))
    cited += [(str(one.get("target_node_uuid")), str(one.get("source_node_uuid"))) for one in mentions]
    _cite(document, cited)
    result.missing += ((_TURNS,) if not document["turns"] else ()) + (_ACCESSES,)
    return document


def _graphiti_node(node: Record) -> dict[str, Any]:
    labels = [label for label in _list(node.get("labels")) if isinstance(label, str) and label != "Entity"]
    return {"id": node.get("uuid"), "label": labels[0] if labels else "Concept", "title": node.get("name"),
            "content": node.get("summary"), "created_at": node.get("created_at"),
            "attributes": _kept(node.get("attributes"), node, "group_id")}  # fmt: skip


def _graphiti_edge(edge: Record) -> dict[str, Any]:
    attributes = _kept(edge.get("attributes"), edge, "fact", "valid_at", "group_id")
    ended = str(edge.get("invalid_at") or edge.get("expired_at") or "")
    if ended:
        attributes["until"] = ended[:10]
    return {"id": edge.get("uuid"), "source": edge.get("source_node_uuid"), "target": edge.get("target_node_uuid"),
            "relationship": str(edge.get("name") or "").lower(), "attributes": attributes}  # fmt: skip


def _episode(episode: Record, result: Imported) -> dict[str, Any] | None:
    """An episode as a turn; one of the kind `message` says who speaks before a colon."""
    text = str(episode.get("content") or "")
    speaker, colon, rest = text.partition(": ")
    spoken = episode.get("source") == "message" and bool(colon) and len(speaker) <= 40 and "\n" not in speaker
    role = "assistant" if spoken and "assistant" in speaker.casefold() else "user"
    said, name, at = rest if spoken else text, speaker if spoken else "User", episode.get("valid_at")
    session = str(episode.get("group_id") or "")
    return _turn(str(episode.get("uuid")), role, said, name, session, at or episode.get("created_at"), result)


# -- Letta -------------------------------------------------------------------------------------------------------------


def _is_letta(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(row, dict) and "text" in row and "id" in row for row in value[:5])
    agents = _any(value, "agents")
    return any(isinstance(one, dict) and "messages" in one for one in agents[:5]) or bool(_any(value, "core_memory"))


def _letta(value: Any, result: Imported) -> dict[str, Any]:
    whole: dict[str, Any] = {"passages": value} if isinstance(value, list) else value
    agents = _records(whole.get("agents")) or [whole]
    turns = [turn for agent in agents for turn in _messages(agent, result)]
    newest = max((turn["at"] for turn in turns), default=None) or whole.get("updated_at")
    blocks = [*_records(whole.get("blocks")), *_records(whole.get("core_memory"))]
    passages = [*_records(whole.get("passages")), *_records(whole.get("archival_memory"))]
    nodes = [_block(place, block, newest) for place, block in enumerate(blocks, 1)]
    nodes += [_passage(place, passage, newest) for place, passage in enumerate(passages, 1)]
    document = _document(nodes, [], result)
    _add_turns(document, sorted(turns, key=lambda turn: str(turn["at"])), result)
    result.missing += ((_TURNS,) if not turns else ()) + (_ACCESSES,)
    result.missing += ("no edges: Letta keeps texts, no graph", "no provenance: which message a text came from")
    result.missing += () if passages else ("no archival passages: an agent file does not hold them",)
    return document


def _block(place: int, block: Record, newest: object) -> dict[str, Any]:
    label = str(block.get("label") or f"block {place}")
    kind = "Person" if label in ("human", "persona", "about_user") else "Concept"
    return {"id": block.get("id") or f"block-{place}", "label": kind, "title": label, "content": block.get("value"),
            "attributes": _kept({}, block, "description"), "created_at": block.get("created_at") or newest}  # fmt: skip


def _passage(place: int, passage: Record, newest: object) -> dict[str, Any]:
    said = str(passage.get("text") or "")
    tags = ", ".join(str(tag) for tag in _list(passage.get("tags")))
    attributes, at = {"tags": tags} if tags else {}, passage.get("created_at") or newest
    return {"id": passage.get("id") or f"passage-{place}", "label": "Concept", "title": _short(said), "content": said,
            "attributes": attributes, "created_at": at}  # fmt: skip


def _messages(agent: Record, result: Imported) -> Iterator[dict[str, Any]]:
    """What user and assistant said; system prompts, tool calls and heartbeats are counted, not kept."""
    left = 0
    for message in _records(agent.get("messages")):
        role, text = str(message.get("role")), _said(message)
        if role not in ("user", "assistant") or not text.strip():
            left += 1
            continue
        turn = _turn(str(message.get("id") or ""), role, text, "User" if role == "user" else "Assistant",
                     str(agent.get("id") or ""), message.get("created_at"), result)  # fmt: skip
        if turn:
            yield turn
    if left:
        result.problems.append(f"{left} messages of system, tools and heartbeats were left out")


def _said(message: Record) -> str:
    content = message.get("content", message.get("text"))
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    text = "\n".join(part for part in texts if isinstance(part, str))
    if text.lstrip().startswith("{"):  # a user's words stand wrapped in JSON; what is no message is an event
        try:
            wrapped = json.loads(text)
        except (ValueError, RecursionError):
            return text
        if isinstance(wrapped, dict) and "type" in wrapped:
            return str(wrapped.get("message") or "") if wrapped["type"] == "user_message" else ""
    return text


# -- all ---------------------------------------------------------------------------------------------------------------


def _document(nodes: list[dict[str, Any]], edges: list[dict[str, Any]], result: Imported) -> dict[str, Any]:
    return from_foreign({"nodes": nodes, "edges": edges}, result)


def _add_turns(document: dict[str, Any], turns: list[dict[str, Any]], result: Imported) -> None:
    known: dict[str, str] = {}
    for turn in turns:
        if turn["source_id"] in known:
            result.problems.append(f"turn {turn['source_id'][:60]} was left out: its id is given twice")
            continue
        position = len(document["turns"])
        turn_id = known[turn["source_id"]] = f"t{position + 1}"
        document["turns"].append(turn | {"id": turn_id, "position": position})


def _cite(document: dict[str, Any], cited: list[tuple[str, str]]) -> None:
    turns = {turn["source_id"]: turn["id"] for turn in document["turns"]}
    items = {*document["nodes"], *document["edges"]}
    known = {pair for pair in cited if pair[1] in turns and pair[0] in items}
    for item, episode in sorted(known):
        document["provenance"].append({"item": item, "turn": turns[episode], "start": None, "stop": None})


def _turn(
    name: str, role: str, text: str, speaker: str, session: str, at: object, result: Imported
) -> dict[str, Any] | None:
    try:
        moment = parse_date(at)
    except FormatError:
        result.problems.append(f"turn {name[:60]} was left out: no readable time ({str(at)[:40]!r})")
        return None
    return {"source_id": name, "session": session, "role": role, "speaker": speaker, "text": text.replace("\x00", " "),
            "at": moment.isoformat()}  # fmt: skip


def _any(value: object, *names: str) -> list[Any]:
    if not isinstance(value, dict):
        return []
    return next((value[name] for name in names if isinstance(value.get(name), list)), [])


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _records(value: object) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _kept(attributes: object, record: Record, *names: str) -> dict[str, Any]:
    own = dict(attributes) if isinstance(attributes, dict) else {}
    return own | {name: record[name] for name in names if record.get(name) not in (None, "", "default")}


def _short(text: str) -> str:
    """The first words of a sentence, as the title of its node."""
    if len(text) <= _TITLE:
        return text
    return text[:_TITLE].rpartition(" ")[0].rstrip(",;:") + " …"


_SYSTEMS: tuple[tuple[str, Callable[[object], bool], Callable[[Any, Imported], dict[str, Any]]], ...] = (
    ("Mem0", _is_mem0, _mem0),
    ("Graphiti", _is_graphiti, _graphiti),
    ("Letta", _is_letta, _letta),
)
