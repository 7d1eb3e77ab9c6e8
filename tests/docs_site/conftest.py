"""The browser that tests of pages share."""

from browsers import browser as browser
