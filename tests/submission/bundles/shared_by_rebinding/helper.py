count = 0

def first(obs):
    global count
    count += 1
    return count
