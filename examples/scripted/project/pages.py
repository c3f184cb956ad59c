"""Keeps rendered pages in memory."""

pages = {}


def put(path, html):
    pages[path] = html


def get(path):
    return pages.get(path)
