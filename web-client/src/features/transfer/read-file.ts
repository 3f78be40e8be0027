import { membersOf } from '../../engine/read-members.ts';
import type { Subscription } from '../../engine/types.ts';
import { CONNECTIONS_KIND, type FiledConnection, readConnections } from './connections-file.ts';
import { FileProblem, type Place } from './file-problem.ts';
import { FILE_BYTES_MAX, MESSAGES_MAX } from './limits.ts';
import type { FiledMessage } from './message-record.ts';
import { rowsOfCsv } from './messages-csv.ts';
import { MESSAGES_KIND, readMessages } from './messages-file.ts';
import { isMqttx, readMqttx } from './mqttx.ts';
import { readMqttxMessages } from './mqttx-messages.ts';
import { readSubscriptions, SUBSCRIPTIONS_KIND } from './subscriptions-file.ts';

const MIB = 2 ** 20;

/** The content of a file, by its kind. */
export type FileContent =
  | {
      readonly type: 'connections';
      readonly connections: readonly FiledConnection[];
      /** From MQTTX: names of connections over TCP, which are omitted. */
      readonly overTcp: readonly string[];
      /** From MQTTX: the messages that it exports with its connections. */
      readonly messages: readonly FiledMessage[];
    }
  | { readonly type: 'subscriptions'; readonly subscriptions: readonly Subscription[] }
  | { readonly type: 'messages'; readonly messages: readonly FiledMessage[] };

/** The progress of reading a file. Parsing its text happens in one step, so its progress is unknown. */
export type ReadProgress =
  | { readonly phase: 'bytes' | 'messages'; readonly done: number; readonly total: number }
  | { readonly phase: 'parsing' };

export type OnProgress = (progress: ReadProgress) => void;

/**
 * Detects the kind of a file, and reads it.
 *
 * @throws {FileProblem} if it is too large, or of an unknown format
 */
export async function readFile(file: Blob, onProgress: OnProgress = ignoreProgress): Promise<FileContent> {
  if (file.size > FILE_BYTES_MAX)
    throw new FileProblem('tooLarge', {
      mebibytes: Math.ceil(file.size / MIB),
      max: FILE_BYTES_MAX / MIB,
    });
  const text = await textOf(file, onProgress);
  onProgress({ phase: 'parsing' });
  return readText(text, onProgress);
}

/** The text of a file, piece by piece, to report the progress. */
async function textOf(file: Blob, onProgress: OnProgress): Promise<string> {
  const reader = file.stream().getReader();
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let [done, told] = [0, 0];
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    pieces.push(decoder.decode(piece.value, { stream: true }));
    done += piece.value.length;
    if (done - told < MIB) continue;
    told = done;
    onProgress({ phase: 'bytes', done, total: file.size });
  }
  pieces.push(decoder.decode());
  return pieces.join('');
}

export function readText(text: string, onProgress: OnProgress = ignoreProgress): FileContent {
  const [first] = /\S/.exec(text) ?? [];
  if (first === undefined) throw new FileProblem('empty');
  if (first !== '[' && first !== '{') return readCsv(text, onProgress);
  const json = parsed(text);
  return json.isWhole ? readJson(json.value, onProgress) : readLines(text, json.detail, onProgress);
}

function readJson(value: unknown, onProgress: OnProgress): FileContent {
  const read = membersOf(value);
  const entries = Array.isArray(value) ? value : [value];
  if (read?.format === undefined) return readUnnamed(entries, onProgress);
  const list = (name: string): readonly unknown[] => {
    const found = read[name];
    if (!Array.isArray(found)) throw new FileProblem('list', { name });
    return found;
  };
  if (read.version !== 1) throw new FileProblem('version', { version: String(read.version) });
  switch (read.format) {
    case CONNECTIONS_KIND:
      return {
        type: 'connections',
        connections: readConnections(list('connections')),
        overTcp: [],
        messages: [],
      };
    case SUBSCRIPTIONS_KIND:
      return { type: 'subscriptions', subscriptions: readSubscriptions(list('subscriptions')) };
    case MESSAGES_KIND:
      return messagesOf(list('messages'), inList, onProgress);
    default:
      throw new FileProblem('unknown');
  }
}

/** JSON that does not say what it is: of MQTTX, a connection as its share dialog shows it, or a list of messages. */
function readUnnamed(entries: readonly unknown[], onProgress: OnProgress): FileContent {
  const [first] = entries;
  const read = membersOf(first) ?? {};
  if (isMqttx(entries))
    return { type: 'connections', ...readMqttx(entries), messages: readMqttxMessages(entries) };
  if ('url' in read)
    return { type: 'connections', connections: readConnections(entries), overTcp: [], messages: [] };
  if ('topic' in read) return messagesOf(entries, inList, onProgress);
  throw new FileProblem('unknown');
}

/** A message a line. One line alone is JSON as well, and was read as that. */
function readLines(text: string, detail: string, onProgress: OnProgress): FileContent {
  const entries: unknown[] = [];
  const numbers: number[] = [];
  let count = 0;
  for (const { line, number } of linesOf(text)) {
    count += 1;
    // Lines that are too many are counted, and need not be right.
    if (count > MESSAGES_MAX) continue;
    const json = parsed(line);
    if (!json.isWhole && count === 1) throw new FileProblem('json', { detail });
    if (!json.isWhole) throw new FileProblem('line', { detail: json.detail }, { kind: 'line', number });
    entries.push(json.value);
    numbers.push(number);
  }
  if (count > MESSAGES_MAX) throw new FileProblem('tooManyMessages', { count, max: MESSAGES_MAX });
  return messagesOf(entries, (index) => ({ kind: 'line', number: numbers[index] ?? 0 }), onProgress);
}

/** The lines that hold something, numbered from 1 as an editor numbers them. */
function* linesOf(text: string): Generator<{ readonly line: string; readonly number: number }> {
  for (let from = 0, number = 1; from < text.length; number += 1) {
    const found = text.indexOf('\n', from);
    const end = found === -1 ? text.length : found;
    const line = text.slice(from, end).trim();
    if (line !== '') yield { line, number };
    from = end + 1;
  }
}

function readCsv(text: string, onProgress: OnProgress): FileContent {
  const rows = rowsOfCsv(text);
  if (rows === undefined) throw new FileProblem('unknown');
  const place = (index: number): Place => ({ kind: 'row', number: rows[index]?.number ?? 0 });
  return messagesOf(
    rows.map(({ entry }) => entry),
    place,
    onProgress,
  );
}

function messagesOf(
  entries: readonly unknown[],
  placeOf: (index: number) => Place,
  onProgress: OnProgress,
): FileContent {
  const messages = readMessages(entries, placeOf, (done) =>
    onProgress({ phase: 'messages', done, total: entries.length }),
  );
  return { type: 'messages', messages };
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

function ignoreProgress(): void {}
