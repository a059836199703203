import socket

SERVER = socket.create_server(("127.0.0.1", 0))


def agent(obs, config):
    with socket.create_connection(SERVER.getsockname()):
        SERVER.accept()[0].close()
    return next(c for c in range(config.columns) if obs.board[c] == 0)
