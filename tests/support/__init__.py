"""What several tests share: makers of records and states, repositories, a model service."""
