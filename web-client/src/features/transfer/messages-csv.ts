import Papa from 'papaparse';
import type { MessageRecord } from './message-record.ts';

/** The columns, in their order; `payload_base64` is the payload, `payload_text` is for people. */
export const COLUMNS = [
  'time',
  'time_ms',
  'direction',
  'topic',
  'qos',
  'retain',
  'dup',
  'payload_base64',
  'payload_text',
  'content_type',
  'response_topic',
  'correlation_base64',
  'payload_format_indicator',
  'message_expiry_interval_seconds',
  'user_properties',
] as const;

type Row = Readonly<Partial<Record<(typeof COLUMNS)[number], string>>>;

/** A cell that a spreadsheet would take for a formula. */
const FORMULA = /^'*[=+\-@\t\r]/;

/** One line of CSV (RFC 4180) for each record. */
export function csvOf(records: readonly MessageRecord[]): string {
  return `${Papa.unparse(records.map(cellsOf))}\r\n`;
}

export const CSV_HEADER = `${COLUMNS.join(',')}\r\n`;

function cellsOf({ properties = {}, ...record }: MessageRecord): (string | number | boolean | undefined)[] {
  const { userProperties } = properties;
  return [
    record.time,
    record.timeMs,
    record.direction,
    guarded(record.topic),
    record.qos,
    record.retain,
    record.dup,
    record.payloadBase64,
    record.payloadText && guarded(record.payloadText),
    properties.contentType && guarded(properties.contentType),
    properties.responseTopic && guarded(properties.responseTopic),
    properties.correlationBase64,
    properties.payloadFormatIndicator,
    properties.messageExpiryIntervalSeconds,
    userProperties && JSON.stringify(userProperties),
  ];
}

/** Rows as `readRecord` takes them; undefined where the text is no such CSV. */
export function rowsOfCsv(text: string): readonly unknown[] | undefined {
  const { data, meta } = Papa.parse<Row>(text, { header: true, skipEmptyLines: 'greedy' });
  const fields = meta.fields ?? [];
  const hasPayload = fields.includes('payload_base64') || fields.includes('payload_text');
  return fields.includes('topic') && hasPayload ? data.map(entryOf) : undefined;
}

function entryOf(row: Row): unknown {
  const filled = (cell: string | undefined): string | undefined => (cell === '' ? undefined : cell);
  const plain = (cell: string | undefined): string | undefined =>
    filled(cell) && unguarded(filled(cell) ?? '');
  const hasBase64 = row.payload_base64 !== undefined;
  return {
    time: filled(row.time),
    timeMs: filled(row.time_ms) && Number(row.time_ms),
    direction: filled(row.direction),
    topic: plain(row.topic),
    qos: filled(row.qos) && Number(row.qos),
    retain: row.retain === 'true',
    payloadBase64: row.payload_base64,
    payloadText: hasBase64 ? undefined : unguarded(row.payload_text ?? ''),
    properties: {
      contentType: plain(row.content_type),
      responseTopic: plain(row.response_topic),
      correlationBase64: filled(row.correlation_base64),
      payloadFormatIndicator: row.payload_format_indicator === 'true' || undefined,
      messageExpiryIntervalSeconds:
        filled(row.message_expiry_interval_seconds) && Number(row.message_expiry_interval_seconds),
      userProperties: parsed(row.user_properties),
    },
  };
}

/** With an apostrophe in front of what a spreadsheet would run; `unguarded` takes it away again. */
function guarded(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

function unguarded(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}

function parsed(json: string | undefined): unknown {
  try {
    return json === undefined || json === '' ? undefined : JSON.parse(json);
  } catch {
    // Not written by this client: the message is taken without them.
    return undefined;
  }
}
