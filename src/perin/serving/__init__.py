"""The parser as a service: an HTTP interface and a page where people look at meaning graphs.

    server (uvicorn) -> guard (ids, keys, limits, log) -> app (endpoints) -> pool -> worker processes

The web process reads requests and writes answers.  Worker processes do all parsing, drawing and scoring; when one dies,
the worst that happens is an error for the request that killed it.
"""
