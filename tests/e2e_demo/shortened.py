"""The demo with another story, so that its ends can be tested without telling all of it.

Run as `python -m tests.e2e_demo.shortened STORY [--keep]`.
"""

import sys
from collections.abc import Mapping

from e2e.demo import story
from e2e.demo.checks import contains
from e2e.demo.people import ADMIN
from e2e.demo.script import Chapter, Fact, do

FALSE = Chapter(
    title="Untrue",
    says="This is not so.",
    steps=(do(ADMIN, "kubectl get nodes", Fact("There is a moon.", contains("moon"))),),
)
STORIES: Mapping[str, tuple[Chapter, ...]] = {
    "beginning": story.STORY[:2],
    "false": (*story.STORY[:2], FALSE),
}

if __name__ == "__main__":
    story.STORY = STORIES[sys.argv[1]]
    from e2e.demo.cli import main

    sys.exit(main(sys.argv[2:]))
