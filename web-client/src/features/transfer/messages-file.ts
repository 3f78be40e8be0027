import type { LoggedMessage } from '../../engine/types.ts';
import { FileProblem, type Place } from './file-problem.ts';
import { MESSAGES_MAX, PIECE_BYTES, PIECE_MESSAGES } from './limits.ts';
import { type FiledMessage, readRecord, recordOf } from './message-record.ts';

export const MESSAGE_FORMATS = ['json', 'jsonl'] as const;

export type MessageFormat = (typeof MESSAGE_FORMATS)[number];

export const MEDIA_TYPES: Readonly<Record<MessageFormat, string>> = {
  json: 'application/json',
  jsonl: 'application/jsonl',
};

/** The `kind` of a JSON file of messages. */
export const MESSAGES_KIND = 'apus-messages';

/** The text of a file, piece by piece, so that fifty thousand messages are not converted in one frame. */
export function* messagesFile(
  messages: readonly LoggedMessage[],
  format: MessageFormat,
  exportedAt: Date = new Date(),
): Generator<string, void, undefined> {
  const isLines = format === 'jsonl';
  const head = JSON.stringify({ format: MESSAGES_KIND, version: 1, exportedAt: exportedAt.toISOString() });
  let between = isLines ? '' : `${head.slice(0, -1)},"messages":[\n`;
  for (const piece of piecesOf(messages)) {
    const lines = piece.map((message) => JSON.stringify(recordOf(message)));
    yield between + lines.join(isLines ? '\n' : ',\n');
    between = isLines ? '\n' : ',\n';
  }
  yield isLines ? '\n' : '\n]}\n';
}

/**
 * The messages of a file, oldest first where it says when they were.
 *
 * @param placeOf where the entry at an index is
 * @throws {FileProblem} for the first entry that is no message: nothing is taken of a file that is not whole
 */
export function readMessages(
  entries: readonly unknown[],
  placeOf: (index: number) => Place,
): readonly FiledMessage[] {
  if (entries.length > MESSAGES_MAX)
    throw new FileProblem('tooManyMessages', { count: entries.length, max: MESSAGES_MAX });
  if (entries.length === 0) throw new FileProblem('empty');
  const messages = entries.map((entry, index) => readRecord(entry, placeOf(index)));
  return messages.toSorted((one, other) => (one.atMs ?? 0) - (other.atMs ?? 0));
}

/** Messages in pieces, none of which blocks the page for long. */
export function* piecesOf<Message extends { readonly payload: Uint8Array }>(
  messages: readonly Message[],
): Generator<readonly Message[], void, undefined> {
  let piece: Message[] = [];
  let bytes = 0;
  for (const message of messages) {
    piece.push(message);
    bytes += message.payload.length;
    if (piece.length < PIECE_MESSAGES && bytes < PIECE_BYTES) continue;
    yield piece;
    [piece, bytes] = [[], 0];
  }
  if (piece.length > 0) yield piece;
}
