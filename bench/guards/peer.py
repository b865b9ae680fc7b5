"""Runs a request through Gatekit's three content plugins in this process, after a warm-up. Prints CPU nanoseconds per call."""

import asyncio
import json
import logging
import sys
import time

from gatekit.plugins.security.pii import BasicPIIFilterPlugin
from gatekit.plugins.security.prompt_injection import BasicPromptInjectionDefensePlugin
from gatekit.plugins.security.secrets import BasicSecretsFilterPlugin
from gatekit.protocol.messages import MCPRequest

ROUNDS = int(sys.argv[1])


async def main() -> None:
    logging.disable(logging.CRITICAL)
    message = json.loads(sys.stdin.read())
    kinds = (BasicSecretsFilterPlugin, BasicPIIFilterPlugin, BasicPromptInjectionDefensePlugin)
    plugins = [kind({"action": "redact"}) for kind in kinds]
    request = MCPRequest(jsonrpc="2.0", id=1, method=message["method"], params=message["params"])

    async def once() -> None:
        for plugin in plugins:
            await plugin.process_request(request, "server")

    for _ in range(3):
        await once()
    for _ in range(ROUNDS):
        began = time.process_time_ns()
        await once()
        print(time.process_time_ns() - began, flush=True)


asyncio.run(main())
