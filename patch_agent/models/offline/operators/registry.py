"""All operators: name, function, prior, and an example (before, after) that is its test.

The prior is how often such a change is the right one, between 0 and 1; those that over-fit most
(negations, statements left out, other variables) come last.
"""

from dataclasses import dataclass

from patch_agent.models.offline.operators import (
    arithmetic,
    calls,
    comparisons,
    conditions,
    constants,
    names,
    positions,
    statements,
)
from patch_agent.models.offline.operators.site import Operator


@dataclass(frozen=True, slots=True)
class Entry:
    """One operator. why: what is said of a repair it made."""

    name: str
    function: Operator
    prior: float
    why: str
    example: tuple[str, str]


def _entry(function: Operator, prior: float, why: str, before: str, after: str) -> Entry:
    name = getattr(function, "__name__", "operator")
    return Entry(name, function, prior, why, (before, after))


OPERATORS: tuple[Entry, ...] = (
    _entry(comparisons.swap_comparison, 1.0, "the comparison was wrong", "a < b", "a <= b"),
    _entry(comparisons.shift_comparison, 0.4, "the limit was off by one", "a < b", "a < b - 1"),
    _entry(arithmetic.swap_arithmetic, 0.9, "the arithmetic operator was wrong", "a + b", "a - b"),
    _entry(arithmetic.swap_augmented, 0.9, "the assignment was wrong", "a += 1", "a -= 1"),
    _entry(arithmetic.swap_operands, 0.6, "the operands were swapped", "a - b", "b - a"),
    _entry(arithmetic.drop_operand, 0.6, "a term was too many", "a + 1", "a"),
    _entry(arithmetic.add_step, 0.35, "the result was off by one", "return a", "return a + 1"),
    _entry(conditions.swap_boolean, 0.8, "the conditions were joined wrongly", "a and b", "a or b"),
    _entry(conditions.negate, 0.5, "a `not` was missing", "if a: f()", "if not a: f()"),
    _entry(conditions.drop_not, 0.8, "a `not` was too many", "x = not a", "x = a"),
    _entry(conditions.drop_part, 0.4, "a condition was too many", "a and b and c", "a and c"),
    _entry(constants.shift_integer, 0.8, "a number was off by one", "a = 3", "a = 4"),
    _entry(constants.scale_integer, 0.5, "a number had the wrong scale", "a = 60", "a = 3600"),
    _entry(constants.replace_constant, 0.5, "a constant was wrong", "a = 'x'", "a = 'value'"),
    _entry(constants.flip_truth, 0.7, "a truth value was wrong", "f(a=True)", "f(a=False)"),
    _entry(positions.shift_index, 0.8, "an index was off", "a[0]", "a[-1]"),
    _entry(positions.shift_slice, 0.8, "a slice was off by one", "a[1:n]", "a[1:n + 1]"),
    _entry(positions.shift_range, 0.8, "a range was off by one", "range(n)", "range(n + 1)"),
    _entry(names.replace_name, 0.4, "the wrong variable was used", "f(a)", "f(b)"),
    _entry(names.replace_module_constant, 0.7, "the wrong constant was used", "f(LOW)", "f(HIGH)"),
    _entry(names.replace_attribute, 0.5, "the wrong attribute was used", "a.x", "a.y"),
    _entry(calls.swap_method, 0.8, "the wrong method was called", "a.lstrip()", "a.strip()"),
    _entry(calls.swap_function, 0.8, "the wrong function was called", "min(a)", "max(a)"),
    _entry(calls.swap_arguments, 0.6, "arguments were swapped", "f(a, b)", "f(b, a)"),
    _entry(calls.unwrap_call, 0.3, "a call was too many", "x = abs(a)", "x = a"),
    _entry(calls.add_method, 0.3, "a text was not made comparable", "return a", "return a.strip()"),
    _entry(statements.swap_jump, 0.7, "the loop was left wrongly", "break", "continue"),
    _entry(statements.return_other, 0.4, "the wrong value was returned", "return None", "return a"),
    _entry(statements.drop_statement, 0.2, "a statement was too many", "a += 1", "pass"),
)
