"""Studies in which people rank methods by what they see: the plan, the answers, what follows."""
