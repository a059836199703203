/* Depth-limited search with the window evaluation: the end of core.c, which has the types and the macros. */
