"""Tables and pictures: the only room that rounds, formats or draws."""
