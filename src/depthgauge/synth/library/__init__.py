"""Objects and rooms, one function each."""
