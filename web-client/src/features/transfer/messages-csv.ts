import Papa from 'papaparse';
import type { MessageRecord } from './message-record.ts';

/** The columns, in their order; `payload_base64` is the payload, `payload_text` is for people. */
const COLUMNS = [
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

/** With an apostrophe before text that a spreadsheet would run as a formula. */
function guarded(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
