"""What the shop offers."""

import math

from shop.goods import price
from .basket import Basket, total

__all__ = ["Basket", "price", "total"]
