def leaf():
    return 40
