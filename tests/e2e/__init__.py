"""The whole program, as it is installed, on real repositories with a service on loopback."""
