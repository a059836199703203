from dataclasses import KW_ONLY as REST
from dataclasses import dataclass

from helper import first

@dataclass
class Player:
    name: str
    _: REST
    move: int = 0

def agent(obs, config):
    return first(Player("me", move=0).move)
