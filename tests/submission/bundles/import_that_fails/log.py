lines = []
