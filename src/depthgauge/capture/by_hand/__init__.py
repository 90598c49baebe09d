"""What people do by hand in a session: their actions, what follows from them, and what they see."""
