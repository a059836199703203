__all__ = ["price"]
__all__ += []

price = 3
