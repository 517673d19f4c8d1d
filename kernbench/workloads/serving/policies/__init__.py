"""What a service does first: the policies that ``--policy`` names."""
