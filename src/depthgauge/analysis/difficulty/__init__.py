"""How difficult a challenge may get before a method fails: psychometric curves along axes."""
