"""``python -m perin``."""

import sys

from perin.commands.main import main

sys.exit(main())
