"""Selects MariaDB transactions by the domain and sequence number of their GTIDs."""

from __future__ import annotations

from binlog_kaitai.core.grammar import EventType
from binlog_kaitai.render.dump.item import Item
from binlog_kaitai.render.dump.options import DumpOptions


class Domains:
    """Judges events in order: everything after a GTID event is hidden with it, up to the next one."""

    def __init__(self, options: DumpOptions) -> None:
        self._options = options
        self._is_hidden = False

    def hides(self, item: Item) -> bool:
        """Whether an event belongs to a transaction that is not printed."""
        if item.kind == EventType.gtid_event and self._options.filters_domains:
            body = item.event.body
            self._is_hidden = self._hides_gtid(body.domain_id, body.sequence_number)
        return self._is_hidden and item.kind != EventType.format_description_event

    def _hides_gtid(self, domain: int, number: int) -> bool:
        options = self._options
        if domain in options.ignored_domain_ids or (
            options.domain_ids is not None and domain not in options.domain_ids
        ):
            return True
        # A start position is what a replica has; domains that the stop position does not name are left out.
        if number <= options.start_gtids.get(domain, -1):
            return True
        return bool(options.stop_gtids) and number > options.stop_gtids.get(domain, -1)
