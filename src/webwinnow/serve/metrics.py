"""The metrics of the service, in the text format of Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from webwinnow._version import __version__

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The counters of one service, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        about = Gauge("webwinnow_info", "The version of webwinnow", ["version"], registry=self.registry)
        about.labels(__version__).set(1)
        labels = ["method", "route", "status"]
        self._requests = Counter("webwinnow_requests", "Requests answered", labels, registry=self.registry)
        self._seconds = Histogram(
            "webwinnow_request_seconds", "Time to answer", ["route"], buckets=SECONDS, registry=self.registry
        )
        self.pages = Counter("webwinnow_pages", "Single pages by outcome", ["outcome"], registry=self.registry)
        self.waiting = Gauge("webwinnow_pages_waiting", "Single pages being cleaned", registry=self.registry)
        self.jobs = Gauge("webwinnow_jobs", "Jobs by status", ["status"], registry=self.registry)
        self.uploaded = Counter("webwinnow_uploaded_bytes", "Bytes of crawl files taken", registry=self.registry)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """All metrics as text."""
        return generate_latest(self.registry)
