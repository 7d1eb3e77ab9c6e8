"""`python -m warpdyn` is the `warpdyn` command."""

from .cli.main import main

raise SystemExit(main())
