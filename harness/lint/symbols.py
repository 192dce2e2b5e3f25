# SPDX-License-Identifier: GPL-2.0
"""What the linters that look at objects share."""
import subprocess


def nm(path, *flags):
    """The names of an object's symbols, as the flags of nm choose them."""
    out = subprocess.run(['nm', *flags, path], capture_output=True, text=True, check=True).stdout
    return {f[-1] for f in map(str.split, out.splitlines()) if len(f) >= 2}
