"""Decision workers: who may amend what the runtime proposes."""
