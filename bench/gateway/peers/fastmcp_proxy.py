"""FastMCP's proxy in front of a URL or a command: fastmcp_proxy.py WHAT PORT"""

import sys

from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.server import create_proxy

what, port = sys.argv[1], int(sys.argv[2])
behind = StreamableHttpTransport(what) if what.startswith("http") else StdioTransport(what, [])
create_proxy(behind).run(transport="http", host="127.0.0.1", port=port, path="/mcp", log_level="critical", show_banner=False)
