"""Runs one function; lives in the function's process and imports nothing of the platform.

start        composition: settings, then a command or an app, then the server
settings     what the environment tells
isolation    import paths and environment, before and after the function's
command      level 0: a program that serves HTTP itself
offers       what the function's files define, read without importing them
search       level 1: which module and attribute is the function
loading      imports it, and says what went wrong
framework    functions written for functions-framework
adapting     the function's object as an ASGI app
kinds        whether an object is a handler, an ASGI or a WSGI app
request      what a handler is given
results      what a handler may return
handling     a handler as an ASGI app
wsgi         a WSGI app as an ASGI app
streaming    pieces sent when they are made
inbox        a request's body and the caller's leaving
threads      where what blocks is run
front        health, errors, drain: around every app
server       uvicorn
failure      why a function did not start
"""
