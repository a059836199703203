from . import helper

first = helper.first
