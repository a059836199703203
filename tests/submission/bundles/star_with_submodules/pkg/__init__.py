__all__ = ["part", "shown"]
shown = 1
hidden = 2
