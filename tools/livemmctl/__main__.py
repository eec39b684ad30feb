# SPDX-License-Identifier: GPL-2.0-only
"""python3 -m livemmctl"""

from livemmctl.cli import main

if __name__ == "__main__":
    main()
