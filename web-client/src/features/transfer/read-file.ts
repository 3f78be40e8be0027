import { membersOf } from '../../engine/read-members.ts';
import { CONNECTIONS_KIND, type FiledConnection, readConnections } from './connections-file.ts';
import { FileProblem, type Place } from './file-problem.ts';
import { FILE_BYTES_MAX, MESSAGES_MAX } from './limits.ts';
import type { FiledMessage } from './message-record.ts';
import { MESSAGES_KIND, readMessages } from './messages-file.ts';

const MIB = 2 ** 20;

/** The content of a file, by its kind. */
export type FileContent =
  | {
      readonly type: 'connections';
      readonly connections: readonly FiledConnection[];
    }
  | { readonly type: 'messages'; readonly messages: readonly FiledMessage[] };

/**
 * Detects the kind of a file, and reads it.
 *
 * @throws {FileProblem} if it is too large, or of an unknown format
 */
export async function readFile(file: Blob): Promise<FileContent> {
  if (file.size > FILE_BYTES_MAX)
    throw new FileProblem('tooLarge', {
      mebibytes: Math.ceil(file.size / MIB),
      max: FILE_BYTES_MAX / MIB,
    });
  return readText(await file.text());
}

export function readText(text: string): FileContent {
  const [first] = /\S/.exec(text) ?? [];
  if (first === undefined) throw new FileProblem('empty');
  if (first !== '[' && first !== '{') throw new FileProblem('unknown');
  const json = parsed(text);
  return json.isWhole ? readJson(json.value) : readLines(text, json.detail);
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
      return {
        type: 'connections',
        connections: readConnections(list('connections')),
      };
    case MESSAGES_KIND:
      return messagesOf(list('messages'), inList);
    default:
      throw new FileProblem('unknown');
  }
}

/** JSON that does not say what it is: a connection, or a list of messages. */
function readUnnamed(entries: readonly unknown[]): FileContent {
  const [first] = entries;
  const read = membersOf(first) ?? {};
  if ('url' in read) return { type: 'connections', connections: readConnections(entries) };
  if ('topic' in read) return messagesOf(entries, inList);
  throw new FileProblem('unknown');
}

/** A message a line. One line alone is JSON as well, and was read as that. */
function readLines(text: string, detail: string): FileContent {
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
  return messagesOf(entries, (index) => ({ kind: 'line', number: numbers[index] ?? 0 }));
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

function messagesOf(entries: readonly unknown[], placeOf: (index: number) => Place): FileContent {
  return { type: 'messages', messages: readMessages(entries, placeOf) };
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
