"""The flags that several commands share, each written once."""

from typing import Annotated

import typer

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Model: an alias (sonnet, opus, haiku), an id, or `offline` (no key, no network). "
        "Default: sonnet when a key is there, else offline.",
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="A server that speaks the Messages API."),
]
TestCmd = Annotated[
    list[str] | None,
    typer.Option(
        "--test-cmd",
        metavar="CMD",
        help="The command that runs the tests; may repeat. Naming it allows it to run.",
    ),
]
TestTimeout = Annotated[
    str | None,
    typer.Option("--test-timeout", metavar="TIME", help="Limit of one test run. Default: 10m."),
]
MaxSteps = Annotated[
    int | None, typer.Option("--max-steps", metavar="N", help="Limit of steps. Default: 30.")
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="USD", help="Limit of the cost. Default: 2.00."),
]
MaxTime = Annotated[
    str | None,
    typer.Option("--max-time", metavar="TIME", help="Limit of the time, such as 30m."),
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        help="Answer yes to running the tests and commands; never to what destroys or leaves "
        "this machine.",
    ),
]
OutputFormat = Annotated[
    str,
    typer.Option(
        "--output-format", metavar="FORMAT", help="text, or json: one object on standard output."
    ),
]
AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="A run that changes nothing may be done.")
]
AllowTests = Annotated[
    list[str] | None,
    typer.Option("--allow-tests", metavar="GLOB", help="Test files that may be changed."),
]
NoBaseline = Annotated[
    bool, typer.Option("--no-baseline", help="Do not run the tests before the first edit.")
]
Session = Annotated[
    str | None,
    typer.Argument(metavar="[SESSION]", help="An id or the start of one. Default: the newest."),
]
