"""The pure heart of Patch: events, state, decisions and the verdict; standard library only."""
