# Receives webhooks. Python 3.9 or newer, nothing to install:
#   WEBHOOK_SECRET=... PORT=8000 python3 receive.py
import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["WEBHOOK_SECRET"]
TOLERANCE_SECONDS = 300
MAX_BYTES = 4 * 1024 * 1024


def is_equal(given, expected):
    return hmac.compare_digest(given.encode(), expected.encode())


def is_body_signed(headers, body):
    """X-Webhook-Signature: of the body alone, keyed with the secret as it is written."""
    expected = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    names = ("X-Webhook-Signature", "X-Webhook-Signature-Previous")
    return any(is_equal(headers.get(name, ""), expected) for name in names)


def is_message_signed(headers, body):
    """Standard Webhooks: of the id and the time too, so that nobody can send an old message again."""
    id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(SECRET[len("whsec_"):]) if SECRET.startswith("whsec_") else SECRET.encode()
    digest = hmac.new(key, f"{id}.{sent_at}.".encode() + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    return any(is_equal(given, expected) for given in headers.get("webhook-signature", "").split(" "))


# In your program: a unique column, written in one transaction with what the message changes.
taken = set()


def take(id, message):
    """Takes a message once, however often it is sent. Only write it down here: the sender waits."""
    if id in taken:
        return
    taken.add(id)
    print(id, message["event"], flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        try:
            status = self.receive()
        except Exception:
            status = 500  # Sent again later.
        self.close_connection = status != 204
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def receive(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > MAX_BYTES:
            return 413
        # The bytes as they came: JSON that was parsed and written again has another signature.
        body = self.rfile.read(length)
        if not is_body_signed(self.headers, body) or not is_message_signed(self.headers, body):
            return 401
        take(self.headers["webhook-id"], json.loads(body))
        return 204

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Receiver)
print(f"receiving at http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
