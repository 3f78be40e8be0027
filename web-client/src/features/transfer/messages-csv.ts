import Papa from 'papaparse';
import { FileProblem, type FileProblemKey } from './file-problem.ts';
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

/** `payload` is the name that other programs use for text. */
type Row = Readonly<Partial<Record<(typeof COLUMNS)[number] | 'payload', string>>>;

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

export interface NumberedRow {
  /** As `readRecord` takes it. */
  readonly entry: unknown;
  /** As a spreadsheet numbers rows, the header being the first. Cells may span lines, so lines are not counted. */
  readonly number: number;
}

/**
 * Rows that hold something; undefined where the text is no such CSV.
 *
 * @throws {FileProblem} for a row whose quotes are not closed, or that has more cells than the header
 */
export function rowsOfCsv(text: string): readonly NumberedRow[] | undefined {
  const { data, meta, errors } = Papa.parse<Row>(text, { header: true });
  const fields = meta.fields ?? [];
  const hasPayload = ['payload_base64', 'payload_text', 'payload'].some((name) => fields.includes(name));
  if (!fields.includes('topic') || !hasPayload) return undefined;
  for (const { code, type, row = 0 } of errors) {
    const problem = PROBLEMS[code];
    // Papa Parse counts rows from 0, those of wrong quotes with the header and the others without it.
    const number = row + (type === 'Quotes' ? 1 : 2);
    if (problem !== undefined) throw new FileProblem(problem, {}, { kind: 'row', number });
  }
  return data.flatMap((row, index) => (isBlank(row) ? [] : [{ entry: entryOf(row), number: index + 2 }]));
}

/** Errors that shift cells, so the file is refused. A row may lack cells at its end. */
const PROBLEMS: Readonly<Partial<Record<Papa.ParseError['code'], FileProblemKey>>> = {
  MissingQuotes: 'quotes',
  InvalidQuotes: 'quotes',
  TooManyFields: 'cells',
};

function isBlank(row: Row): boolean {
  return Object.values(row).every((cell) => cell.trim() === '');
}

function entryOf(row: Row): unknown {
  const filled = (cell: string | undefined): string | undefined => (cell === '' ? undefined : cell);
  const plain = (cell: string | undefined): string | undefined =>
    filled(cell) && unguarded(filled(cell) ?? '');
  // A table that people fill in may have both columns, with text in one of them.
  const written = row.payload_text ?? row.payload;
  const hasText = filled(row.payload_base64) === undefined && written !== undefined;
  return {
    time: filled(row.time),
    timeMs: filled(row.time_ms) && Number(row.time_ms),
    direction: filled(row.direction),
    topic: plain(row.topic),
    qos: filled(row.qos) && Number(row.qos),
    retain: row.retain === 'true',
    payloadBase64: hasText ? undefined : row.payload_base64,
    payloadText: hasText ? unguarded(written) : undefined,
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

/** With an apostrophe before text that a spreadsheet would run as a formula; `unguarded` removes it. */
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
