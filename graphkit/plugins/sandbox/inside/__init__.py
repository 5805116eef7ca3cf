"""What runs behind the wall: scripts of their own, which import nothing of graphkit."""
