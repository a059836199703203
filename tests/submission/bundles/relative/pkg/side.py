SIDE = "side"
