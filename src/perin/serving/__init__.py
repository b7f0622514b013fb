"""The parser as a service: an HTTP interface and a page where people look at meaning graphs.

    server (uvicorn) -> guard (ids, keys, limits, log) -> app (endpoints) -> pool -> worker processes

The web process reads requests and writes answers; all parsing, drawing and scoring is done by worker processes, which
may die without harm to anything but, at worst, the request that killed them.
"""
