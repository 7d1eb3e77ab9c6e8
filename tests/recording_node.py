"""A stand-in for an rclpy node. It stores its publishers, subscriptions, timers and messages, and
needs no DDS."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace

from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message


class RecordedPublisher:
    def __init__(self, kind, qos, options):
        self.kind, self.qos, self.options = kind, qos, options
        self.messages = []
        self.listeners = 1
        self.acknowledged = False

    def publish(self, message):
        """Store a message. rclpy also accepts its bytes."""
        if isinstance(message, bytes):
            message = deserialize_message(message, self.kind)
        assert isinstance(message, self.kind)
        self.messages.append(message)

    def wait_for_all_acked(self, timeout):
        self.acknowledged = True

    def get_subscription_count(self):
        return self.listeners


class RecordedLog:
    def __init__(self):
        self.lines = []

    def warning(self, text, **options):
        self.lines.append(text)

    info = error = fatal = warning


class RecordedClock:
    def now(self):
        return self

    def to_msg(self):
        return Time(sec=7)


class RecordingNode:
    """Its attributes are dictionaries by topic or name. `timers` is a list of (period, callback,
    clock), and `resets` lists the periods of timers that were reset."""

    def __init__(self):
        self.publishers = {}
        self.subscriptions = {}
        self.services = {}
        self.timers, self.resets = [], []
        self.log = RecordedLog()
        self.endpoints = {}
        """By topic: what the graph says of its publishers and of its subscriptions."""

    def create_publisher(self, kind, topic, qos, **options):
        assert topic not in self.publishers
        self.publishers[topic] = RecordedPublisher(kind, qos, options)
        return self.publishers[topic]

    def create_subscription(self, kind, topic, callback, qos, **options):
        self.subscriptions[topic] = (kind, callback, qos, options)

    def create_service(self, kind, name, callback, **options):
        self.services[name] = (kind, callback)

    def create_timer(self, period, callback, clock=None):
        self.timers.append((period, callback, clock))
        return SimpleNamespace(reset=lambda: self.resets.append(period))

    def get_logger(self):
        return self.log

    def get_clock(self):
        return RecordedClock()

    def get_publishers_info_by_topic(self, topic):
        return self.endpoints[topic][0]

    def count_publishers(self, topic):
        return len(self.endpoints.get(topic, ((), ()))[0])

    def resolve_topic_name(self, topic):
        return topic.replace("~", "/warpdyn") if topic.startswith("~") else f"/{topic.lstrip('/')}"

    def get_subscriptions_info_by_topic(self, topic):
        return self.endpoints[topic][1]

    def get_name(self):
        return "warpdyn"

    def get_namespace(self):
        return "/"

    def get_fully_qualified_name(self):
        return "/warpdyn"

    @property
    def messages(self):
        """Messages by topic, of those topics that have any."""
        topics = defaultdict(list)
        for topic, publisher in self.publishers.items():
            if publisher.messages:
                topics[topic] = publisher.messages
        return topics
