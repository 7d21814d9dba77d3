"""Short names of models; the id they stand for is printed at the start of a run."""

ALIASES = {
    "sonnet": "claude-sonnet-5-5",
    "opus": "claude-opus-5-5",
    "haiku": "claude-haiku-5-5",
}
DEFAULT = "sonnet"


def resolve_alias(name: str) -> str:
    """The id of a model; a name that is no alias is an id already."""
    return ALIASES.get(name, name)
