LIMIT = 3

from pkg.helper import first
