import space as package

value = 1
