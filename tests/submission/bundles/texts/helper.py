CODE = '''
def from_text():
    import nothing
'''
名前 = "name"


def größe(x):
	return x + 1  # indented with a tab
