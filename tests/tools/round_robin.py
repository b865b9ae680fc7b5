#!/usr/bin/env python3
"""A plain reverse proxy for tests: each request goes to the next node, as it arrives and without being stored.

    round_robin.py HOST:PORT…

Its first line of output is its own address. It ends when its standard input does. A node that refuses the connection is
passed over. A node that ends before its answer begins costs this one request a 502; the proxy repeats nothing.
"""

import asyncio
import itertools
import sys

LARGEST_HEAD = 64 * 1024
CHUNK = 64 * 1024
MOST_CONNECTIONS = 1_000
CONNECT_LIMIT = 3  # seconds
HEAD_LIMIT = 30
IDLE_LIMIT = 150  # longer than any deadline of the tests


def one_request(head):
    """The head of a request that is the only one on its connection, so that the next one goes to another node."""
    lines = head[:-4].split(b"\r\n")
    kept = [line for line in lines if line.split(b":")[0].strip().lower() not in (b"connection", b"keep-alive")]
    return b"\r\n".join([*kept, b"Connection: close"]) + b"\r\n\r\n"


async def read_head(client):
    """The head of the request, or all that came when there is none: the node then says what is wrong with it."""
    try:
        return one_request(await asyncio.wait_for(client.readuntil(b"\r\n\r\n"), HEAD_LIMIT))
    except asyncio.IncompleteReadError as end:
        return end.partial
    except asyncio.LimitOverrunError as large:
        return await client.read(large.consumed)


async def pump(source, sink):
    """Passes on what comes, at the pace of the receiver."""
    while chunk := await asyncio.wait_for(source.read(CHUNK), IDLE_LIMIT):
        sink.write(chunk)
        await asyncio.wait_for(sink.drain(), IDLE_LIMIT)


async def upload(client, node):
    """The rest of the request. A client that is gone is gone for the node too."""
    try:
        await pump(client, node)
        node.write_eof()
    except (OSError, asyncio.TimeoutError):
        node.transport.abort()


async def download(node, answer):
    """The answer. One that is cut off must not look whole, so the connection is reset."""
    try:
        begin = await asyncio.wait_for(node.read(CHUNK), IDLE_LIMIT)
    except ConnectionResetError:
        begin = b""
    if not begin:
        return await refuse(answer, b"the node ended before its answer")
    answer.write(begin)
    await pump(node, answer)


class Proxy:
    def __init__(self, nodes):
        self.nodes, self.turns = nodes, itertools.count()
        self.slots = asyncio.Semaphore(MOST_CONNECTIONS)

    async def connect(self):
        """A connection to the next node that is there."""
        turn = next(self.turns)
        for passed_over in range(len(self.nodes)):
            host, _, port = self.nodes[(turn + passed_over) % len(self.nodes)].rpartition(":")
            try:
                return await asyncio.wait_for(asyncio.open_connection(host, int(port), limit=LARGEST_HEAD), CONNECT_LIMIT)
            except (OSError, asyncio.TimeoutError):
                continue
        return None

    async def serve(self, client, answer):
        try:
            async with self.slots:
                await self.forward(client, answer)
        except (OSError, asyncio.TimeoutError):
            answer.transport.abort()
        finally:
            answer.close()

    async def forward(self, client, answer):
        head = await read_head(client)
        if not head:
            return
        found = await self.connect()
        if not found:
            return await refuse(answer, b"no node is there")
        back, node = found
        uploading = None
        try:
            node.write(head)
            uploading = asyncio.create_task(upload(client, node))
            await download(back, answer)
        finally:
            if uploading:
                uploading.cancel()
                await asyncio.gather(uploading, return_exceptions=True)
            node.close()


async def refuse(answer, why):
    body = b'{"proxy":"' + why + b'"}'
    head = b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    answer.write(head % len(body) + body)
    await asyncio.wait_for(answer.drain(), IDLE_LIMIT)


async def main():
    proxy = Proxy(sys.argv[1:])
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=LARGEST_HEAD, backlog=MOST_CONNECTIONS)
    print("%s:%d" % server.sockets[0].getsockname()[:2], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
