// What the list says of an event beside its type: a GTID, a table, a statement.

const uuidText = (data) => hex(data, '').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const tableName = (tableMap) => `${tableMap.schemaName}.${tableMap.tableName}`;

/** Bodies are read for the list up to this size, in bytes. */
const LONGEST_LISTED = 64 << 10;

const SUMMARIES = {
  GtidEvent: (content, event) => (event.header.typeCode === EVENT_TYPES.ANONYMOUS_GTID_LOG_EVENT
    ? 'anonymous' : `${uuidText(content.uuid)}:${content.gno}`),
  GtidTaggedEvent: (content) =>
    `${content.fields.uuid.text}:${content.tag ? `${content.tag}:` : ''}${content.gno}`,
  MariadbGtidEvent: (content, event) => `${content.domainId}-${event.header.serverId}-${content.sequenceNumber}`,
  TableMapEvent: tableName,
  QueryEvent: (content) => [content.schemaName, content.queryText].filter(Boolean).join(': '),
  QueryCompressedEvent: (content) => [content.schemaName, content.queryText].filter(Boolean).join(': '),
  RowsQueryEvent: (content) => content.queryText,
  AnnotateRowsEvent: (content) => content.queryText,
  XidEvent: (content) => `xid ${content.xid}`,
  FormatDescriptionEvent: (content) => content.serverVersion,
  RotateEvent: (content) => `${content.nextLog} at ${content.position}`,
  TransactionPayloadEvent: (content) =>
    `${content.payload.length.toLocaleString('en-US')} bytes, ${content.lenUncompressed.toLocaleString('en-US')} unpacked`,
  IntvarEvent: (content) => `${memberOf(memberPathOf('IntvarEvent', 'variable'), content.variable)} ${content.value}`,
  UserVarEvent: (content) => `@${content.name}`,
  IncidentEvent: (content) => content.message,
  BinlogCheckpointEvent: (content) => content.fileName,
};

/** The GTID or table of an event, the text of its statement, or the like; '' where there is none. */
async function summaryOf(log, index) {
  const type = log.frames.types[index];
  if (hasRows[type]) {
    const tableMap = await log.tableMapOf(index, await log.raw(index, LEN_START));
    return tableMap ? tableName(tableMap) : '';
  }
  if (log.frames.sizes[index] > LONGEST_LISTED && !log.hasPayload(index)) return '';
  const { entry, error } = await log.event(index);
  const content = entry.event?.body?.content;
  if (error || !isStructure(content)) return '';
  return String(SUMMARIES[pathOf.get(content.constructor)]?.(content, entry.event) ?? '');
}
