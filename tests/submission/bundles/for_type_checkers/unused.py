raise RuntimeError("nothing may import this module")
