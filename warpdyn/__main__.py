"""`python -m warpdyn` is the `warpdyn` command."""

from .cli import main

raise SystemExit(main())
