def agent(obs, config):
    from engine.board import Board

    return Board.from_kaggle(obs, config).legal_moves()[0]
