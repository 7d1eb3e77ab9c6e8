"""Rows of the tables that commands print."""

from __future__ import annotations


def printed_rows(text: str) -> list[list[str]]:
    """The cells of each row of a rich table, without its frame."""
    lines = [line.replace("┃", "│") for line in text.splitlines()]
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]
