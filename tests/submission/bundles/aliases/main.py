from pkg.shapes import area as size, SIDE, square as box
from pkg.numbers import one, two as one_more
from pkg.shapes import area


def agent(obs, config):
    return [size(obs), area(obs), SIDE, box(one()), one_more()]
