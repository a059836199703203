from helper import first

def move(column: int) -> int:
    return column

def agent(obs, config):
    return first(move.__annotations__["column"])
