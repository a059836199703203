__all__ = ["first"]

def first(obs):
    return len(__all__)
