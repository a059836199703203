value = 10
