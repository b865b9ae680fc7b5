"""A small shop on loopback, for a real browser: a login, a page behind it, and pages that misbehave."""

import contextlib
import http.server
import threading
import urllib.parse

STYLE = """<meta name=viewport content="width=device-width, initial-scale=1"><style>
body{font:18px sans-serif;margin:24px} label,input,button,select{display:block;font:inherit;margin:8px 0;width:100%;box-sizing:border-box}
button{padding:14px;border:0;border-radius:8px;background:#0062cc;color:#fff} button.sale{background:#b3261e}
#far{margin-top:1800px}</style>"""

LOGIN = """<title>Shop</title>{style}<h1>Log in</h1>{message}
<form method=post action=/login><label for=name>Name</label><input id=name name=name autocomplete=off>
<label for=password>Password</label><input id=password name=password type=password>
<button id=log-in>Log in</button></form>"""

HOME = """<title>Shop of {name}</title>{style}<h1 id=greeting>Hello, {name}</h1>
<button id=buy class="{sale}" onclick="document.getElementById('state').textContent='Bought'">Buy</button>
<button id=ask onclick="document.getElementById('state').textContent=confirm('Really?')?'Yes':'No'">Ask</button>
<button id=stall onclick="const end=Date.now()+20000;while(Date.now()<end);">Stall</button>
<label for=size>Size</label><select id=size><option>Small<option>Large</select>
<p id=state>Nothing yet</p><button id=far>Far below</button>"""


class Shop(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        place = urllib.parse.urlsplit(self.path)
        asked = dict(urllib.parse.parse_qsl(place.query, keep_blank_values=True))
        if place.path == "/":
            message = "<p role=alert id=message>Wrong name or password</p>" if "wrong" in asked else ""
            self.send(200, LOGIN.format(style=STYLE, message=message))
        elif place.path == "/home":
            self.send(200, HOME.format(style=STYLE, name="ada", sale="sale" if "sale" in asked else ""))
        elif place.path in self.server.shown:
            self.answer(200, self.server.shown[place.path])
        else:
            self.send(404, "nothing here")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        form = dict(urllib.parse.parse_qsl(body))
        place = "/home" if (form.get("name"), form.get("password")) == ("ada", "sesame") else "/?wrong"
        self.send_response(303)
        self.send_header("location", place)
        self.send_header("content-length", "0")
        self.end_headers()

    def send(self, status, text):
        self.answer(status, f"<!doctype html><html lang=en>{text}".encode())

    def answer(self, status, page):
        self.send_response(status)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_):
        pass


class Counter(http.server.ThreadingHTTPServer):
    """The shop. It also serves additional pages, given as bytes by path."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Shop)
        self.shown = {}
        self.address = f"http://127.0.0.1:{self.server_port}"


@contextlib.contextmanager
def shop():
    server = Counter()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
