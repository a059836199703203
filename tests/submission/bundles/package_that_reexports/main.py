from shop import Basket, total as sum_up
from shop import math
from shop.goods import price


def agent(obs, config):
    return [sum_up(Basket(obs)), price, math.floor(3.9)]
