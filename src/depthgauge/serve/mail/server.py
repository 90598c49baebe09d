"""The mail server of a site, by its URL: `smtp://user:password@host:587`, `smtps://host`."""

from __future__ import annotations

import smtplib
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage
from urllib.parse import parse_qs, unquote, urlsplit

from depthgauge.errors import Misuse

_PORTS = {"smtp": 587, "smtps": 465}
_LOCAL = ("localhost", "127.0.0.1", "::1")
_WAIT_S = 30.0


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed over, and from whom it is."""

    host: str
    port: int
    tls: str
    """`always` from the first byte, `starttls`, or `none` (this machine only)."""
    user: str
    password: str
    sender: str

    def send(self, message: EmailMessage, before_text: Callable[[], None]) -> None:
        """Hands one mail over.

        Args:
            message: With its recipient.
            before_text: Called when the server has agreed to everything but the text.

        Raises:
            OSError: The server cannot be reached, or does not take it (`smtplib.SMTPException` is
                one).
        """
        context = ssl.create_default_context()
        if self.tls == "always":
            server: smtplib.SMTP = smtplib.SMTP_SSL(
                self.host, self.port, timeout=_WAIT_S, context=context
            )
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=_WAIT_S)
        with server:
            if self.tls == "starttls":
                server.starttls(context=context)
            if self.user:
                server.login(self.user, self.password)
            before_text()
            server.send_message(message, self.sender)


def mail_server(url: str, site_host: str) -> MailServer:
    """Reads the URL of a mail server.

    `smtp://` means STARTTLS, which a server elsewhere must offer; only for this machine it is left
    out, unless `?starttls=yes` asks for it. `?from=` sets the sender.

    Args:
        url: The address.
        site_host: Of the site; its mail is from `depthgauge@` this host by default.

    Raises:
        Misuse: It is no such URL; the text does not repeat it, since it has a password.
    """
    parts, asked = urlsplit(url), parse_qs(urlsplit(url).query)
    try:
        port = parts.port
    except ValueError:
        port = 0
    unknown = set(asked) - {"from", "starttls"}
    if parts.scheme not in _PORTS or not parts.hostname or port == 0 or unknown:
        raise Misuse(
            "--smtp is no address of a mail server; write smtp://USER:PASSWORD@HOST:587, or "
            "smtps://... for TLS from the start, and ?from=ADDRESS for another sender"
        )
    sender = asked.get("from", [f"depthgauge@{site_host.partition(':')[0]}"])[0]
    local = parts.hostname in _LOCAL and asked.get("starttls") != ["yes"]
    return MailServer(
        host=parts.hostname,
        port=port or _PORTS[parts.scheme],
        tls="always" if parts.scheme == "smtps" else "none" if local else "starttls",
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        sender=sender,
    )
