"""The wire protocol on Trio: a loopback listener, the hello, and sessions of calls and news over any transport."""

from ._call import Call
from ._errors import CallTimeout, RemoteCallError
from ._hello import HELLO_SECONDS, Peer, accept_hello
from ._listener import Listener, ListenerStatistics, open_listener
from ._session import MAX_CALLS, SEND_SECONDS, ChannelSession, SessionStatistics, open_session
from ._subscription import MAX_EVENTS, Subscription
from ._transport import CLOSE_SECONDS, Transport, TransportStatistics, WebsocketTransport

__all__ = [
    "CLOSE_SECONDS",
    "HELLO_SECONDS",
    "MAX_CALLS",
    "MAX_EVENTS",
    "SEND_SECONDS",
    "Call",
    "CallTimeout",
    "ChannelSession",
    "Listener",
    "ListenerStatistics",
    "Peer",
    "RemoteCallError",
    "SessionStatistics",
    "Subscription",
    "Transport",
    "TransportStatistics",
    "WebsocketTransport",
    "accept_hello",
    "open_listener",
    "open_session",
]
