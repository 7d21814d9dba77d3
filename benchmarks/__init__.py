"""What is measured, runnable by anyone."""
