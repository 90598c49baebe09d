"""What an operator decides about the web process."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from depthgauge.errors import Misuse

DEFAULT_PORT = 8400
REGISTRATIONS = ("invited", "open")


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Address and trust."""

    public_url: str
    """How browsers reach the site: `https://depth.example.org`; other hosts are refused."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses whose `X-Forwarded-For` is believed."""
    mail: bool = False
    """Whether the site sends mail."""
    registration: str = "invited"
    """Who can make an account: `invited`, or `open` for everybody with a mail address."""
    metrics_token: str = ""
    """With it, `/metrics` is read from elsewhere, too; empty: from this machine only."""
    organisation: str = ""
    """Who runs the site: the author of its leaderboards in citations; empty: the host's name."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.public_url)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/"):
            raise Misuse(
                f"'{self.public_url}' is no address of a site; write https://depth.example.org"
            )
        if self.registration not in REGISTRATIONS:
            raise Misuse(f"registration is {' or '.join(REGISTRATIONS)}")
        if self.registration == "open" and not self.mail:
            raise Misuse("open registration needs mail, to know that addresses are right: --smtp")

    @property
    def origin(self) -> str:
        """Scheme and host, as browsers send it."""
        parts = urlsplit(self.public_url)
        return f"{parts.scheme}://{parts.netloc.lower()}"

    @property
    def host(self) -> str:
        """Host and port."""
        return urlsplit(self.public_url).netloc.lower()

    @property
    def is_secure(self) -> bool:
        """Whether browsers use TLS."""
        return self.origin.startswith("https:")

    @property
    def cookie(self) -> str:
        """The name of the session's cookie; with TLS, one that other hosts cannot set."""
        return "__Host-depthgauge" if self.is_secure else "depthgauge"

    def link(self, path: str) -> str:
        """An absolute address of this site."""
        return f"{self.origin}/{path.lstrip('/')}"
