import { FileProblem, type FileProblemKey, type Place, type ProblemValues } from './file-problem.ts';
import type { FiledMessage } from './message-record.ts';
import { piecesOf } from './messages-file.ts';
import { type FileContent, readFile } from './read-file.ts';

/** A report to the page from the worker that reads a file. */
export type ReadReport =
  /** Some of the messages, in order, after all of them have been checked. */
  | { readonly type: 'piece'; readonly messages: readonly FiledMessage[] }
  /** The end. Messages have come before, and are left out here. */
  | { readonly type: 'content'; readonly content: FileContent }
  | {
      readonly type: 'problem';
      readonly key: FileProblemKey;
      readonly values: ProblemValues;
      readonly place: Place | undefined;
    };

/** @param moved buffers whose bytes are handed over and not copied */
export type PostReport = (report: ReadReport, moved: ArrayBuffer[]) => void;

/** Reads a file, and reports in pieces so that the page never has much to take at a time. */
export async function reportFile(file: Blob, post: PostReport): Promise<void> {
  try {
    const content = await readFile(file);
    if (content.type === 'messages') postPieces(content.messages, post);
    post({ type: 'content', content: withoutMessages(content) }, []);
  } catch (error) {
    const { key, values, place } = problemOf(error);
    post({ type: 'problem', key, values, place }, []);
  }
}

/** Passes on a problem; anything else becomes a problem of the browser. */
export function problemOf(error: unknown): FileProblem {
  return error instanceof FileProblem ? error : new FileProblem('unreadable', { detail: String(error) });
}

function postPieces(messages: readonly FiledMessage[], post: PostReport): void {
  for (const piece of piecesOf(messages)) {
    const packed = pack(piece);
    post({ type: 'piece', messages: packed.messages }, [packed.buffer]);
  }
}

function withoutMessages(content: FileContent): FileContent {
  return content.type === 'messages' ? { ...content, messages: [] } : content;
}

/** The payloads in one buffer: receiving a buffer for each message would take the page long. */
function pack(messages: readonly FiledMessage[]): {
  readonly messages: readonly FiledMessage[];
  readonly buffer: ArrayBuffer;
} {
  const bytes = new Uint8Array(messages.reduce((sum, { payload }) => sum + payload.length, 0));
  let end = 0;
  const packed = messages.map((message) => {
    const from = end;
    bytes.set(message.payload, from);
    end += message.payload.length;
    return { ...message, payload: bytes.subarray(from, end) };
  });
  return { messages: packed, buffer: bytes.buffer };
}
