r'''Backslashes: \n \' and "quotes"'''
import helper

TEXT = '''größe \'\'\' "quoted" \\ \
joined	tab'''
RAW = r"\d\"" + R'''\'''' + '''
'''


def agent(obs, config):
    """Ends with a backslash: \\"""
    return [TEXT, RAW, __doc__, agent.__doc__, helper.BOTH, helper.__doc__, f"{obs!r:>{3}}" "\N{SNOWMAN} \x41"]
