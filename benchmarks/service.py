"""The scripted service of the step benchmark, in a process of its own."""

import json
import sys

from tests.support.messages_server import Answer, MessagesServer, Received, calls


def _answer(received: Received) -> Answer:
    number = len(received.json["messages"]) // 2
    return calls(("read_file", {"path": "calc.py", "start_line": 1 + number % 3}))


def main() -> None:
    """Print the address; at the end of the input print when requests came and replies left."""
    with MessagesServer(_answer) as server:
        print(server.url, flush=True)
        sys.stdin.read()
        times = [(request.arrived, request.sent) for request in server.requests]
    print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
