# -*- coding: utf-8 -*-
"""Only these \""" quotes"""
BOTH = """a '''\\b''' \u00e9 \
c""" """\
" ''' é"""
# MODULES.add('x', False, 1, r''' """
