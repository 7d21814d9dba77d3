"""`patch demo`: the main job on a small broken repository, in a temporary folder."""

import os

from patch_agent.bootstrap import demo as demonstration
from patch_agent.cli import options as flag
from patch_agent.settings import Flags

TASK = "The auth test fails. Fix it."


def demo(output_format: flag.OutputFormat = "text") -> int:
    """See Patch fix a small broken repository, without a key.

    It is unpacked into a temporary folder, and its tests are run there.
    """
    flags = Flags(model="offline", yes=True, output_format=output_format)
    return demonstration.demo(TASK, flags, os.environ)
