"""The imperative shell round the core: the loop, the session, the dispatch of tool calls."""
