import { membersOf } from '../../engine/read-members.ts';
import type { Subscription } from '../../engine/types.ts';
import { CONNECTIONS_KIND, type FiledConnection, readConnections } from './connections-file.ts';
import { FileProblem, type Place } from './file-problem.ts';
import { FILE_BYTES_MAX } from './limits.ts';
import type { FiledMessage } from './message-record.ts';
import { rowsOfCsv } from './messages-csv.ts';
import { MESSAGES_KIND, readMessages } from './messages-file.ts';
import { isMqttx, readMqttx } from './mqttx.ts';
import { readSubscriptions, SUBSCRIPTIONS_KIND } from './subscriptions-file.ts';

/** What was found in a file. */
export type FileContent =
  | {
      readonly type: 'connections';
      readonly connections: readonly FiledConnection[];
      /** From MQTTX: names of connections over TCP, which are left out. */
      readonly overTcp: readonly string[];
    }
  | { readonly type: 'subscriptions'; readonly subscriptions: readonly Subscription[] }
  | { readonly type: 'messages'; readonly messages: readonly FiledMessage[] };

/**
 * Finds out what a file holds, and reads it.
 *
 * @throws {FileProblem} where it is too large, or is none of what is known here
 */
export async function readFile(file: Blob): Promise<FileContent> {
  if (file.size > FILE_BYTES_MAX)
    throw new FileProblem('tooLarge', {
      mebibytes: Math.ceil(file.size / 2 ** 20),
      max: FILE_BYTES_MAX / 2 ** 20,
    });
  return readText(await file.text());
}

export function readText(text: string): FileContent {
  const trimmed = text.trimStart();
  if (trimmed === '') throw new FileProblem('empty');
  if (!/^[[{]/.test(trimmed)) return readCsv(text);
  const json = parsed(trimmed);
  return json.isWhole ? readJson(json.value) : readLines(trimmed, json.detail);
}

function readJson(value: unknown): FileContent {
  const read = membersOf(value);
  const entries = Array.isArray(value) ? value : [value];
  if (read?.format === undefined) return readUnnamed(entries);
  const list = (name: string): readonly unknown[] => {
    const found = read[name];
    if (!Array.isArray(found)) throw new FileProblem('list', { name });
    return found;
  };
  if (read.version !== 1) throw new FileProblem('version', { version: String(read.version) });
  switch (read.format) {
    case CONNECTIONS_KIND:
      return { type: 'connections', connections: readConnections(list('connections')), overTcp: [] };
    case SUBSCRIPTIONS_KIND:
      return { type: 'subscriptions', subscriptions: readSubscriptions(list('subscriptions')) };
    case MESSAGES_KIND:
      return { type: 'messages', messages: readMessages(list('messages'), inList) };
    default:
      throw new FileProblem('unknown');
  }
}

/** JSON that does not say what it is: of MQTTX, a connection as its share dialog shows it, or a list of messages. */
function readUnnamed(entries: readonly unknown[]): FileContent {
  const [first] = entries;
  const read = membersOf(first) ?? {};
  if (isMqttx(entries)) return { type: 'connections', ...readMqttx(entries) };
  if ('url' in read) return { type: 'connections', connections: readConnections(entries), overTcp: [] };
  if ('topic' in read) return { type: 'messages', messages: readMessages(entries, inList) };
  throw new FileProblem('unknown');
}

/** A message a line. One line alone is JSON as well, and was read as that. */
function readLines(text: string, detail: string): FileContent {
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const filled = lines.filter(({ line }) => line !== '');
  if (!parsed(filled[0]?.line ?? '').isWhole) throw new FileProblem('json', { detail });
  const entries = filled.map(({ line, number }) => {
    const json = parsed(line);
    if (!json.isWhole) throw new FileProblem('line', { detail: json.detail }, { kind: 'line', number });
    return json.value;
  });
  return {
    type: 'messages',
    messages: readMessages(entries, (index) => ({
      kind: 'line',
      number: filled[index]?.number ?? 0,
    })),
  };
}

function readCsv(text: string): FileContent {
  const rows = rowsOfCsv(text);
  if (rows === undefined) throw new FileProblem('unknown');
  return { type: 'messages', messages: readMessages(rows, inTable) };
}

type Parsed =
  | { readonly isWhole: true; readonly value: unknown }
  | { readonly isWhole: false; readonly detail: string };

function parsed(text: string): Parsed {
  try {
    return { isWhole: true, value: JSON.parse(text) };
  } catch (error) {
    return { isWhole: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

function inList(index: number): Place {
  return { kind: 'entry', number: index + 1 };
}

/** Rows of CSV may span lines, so they are counted and not the lines. */
function inTable(index: number): Place {
  return { kind: 'row', number: index + 2 };
}
