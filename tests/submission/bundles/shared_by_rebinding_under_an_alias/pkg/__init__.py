from pkg.helper import count as total
