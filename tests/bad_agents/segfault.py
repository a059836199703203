import ctypes


def agent(obs, config):
    ctypes.string_at(0)
