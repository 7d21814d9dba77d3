"""Whose word a run goes by: flags, an answer that was remembered, a person, or nobody yet."""

from collections.abc import Callable
from dataclasses import dataclass

from patch_agent.core.events import ApprovalRequested
from patch_agent.core.protocols import Answer

AskPerson = Callable[[ApprovalRequested], tuple[Answer, str]]


@dataclass(frozen=True, slots=True)
class Consent:
    """Implements `core.protocols.Approver`.

    tests_named: what allowed the tests by naming them ("--test-cmd"), "" for nothing.
    yes: "--yes" was given. person: None when nobody can be asked.
    """

    tests_named: str
    yes: bool
    is_remembered: Callable[[str], bool]
    remember: Callable[[str], None]
    person: AskPerson | None

    def ask(self, request: ApprovalRequested) -> tuple[Answer, str]:
        """The answer and who gave it; what is dangerous only a person can allow."""
        if request.dangerous:
            return self._ask_person(request)
        if request.kind == "tests":
            return self._about_tests(request)
        return ("yes", "--yes") if self.yes else self._ask_person(request)

    def _about_tests(self, request: ApprovalRequested) -> tuple[Answer, str]:
        if self.tests_named:
            return "yes", self.tests_named
        if self.yes:
            return "yes", "--yes"
        if self.is_remembered(request.subject_hash):
            return "yes", "an earlier answer, for the same command here"
        answer, by = self._ask_person(request)
        if answer == "yes":
            self.remember(request.subject_hash)
        return answer, by

    def _ask_person(self, request: ApprovalRequested) -> tuple[Answer, str]:
        return ("later", "") if self.person is None else self.person(request)
