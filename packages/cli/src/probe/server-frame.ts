/** A frame of a deployment (docs/text-frames.md, section 2). */
export type ServerFrame =
  | {
      readonly kind: 'reply';
      readonly bytes: Buffer;
      /** The number of further frames that belong to the reply, and may come before it. */
      readonly parts: number;
      /** Extensions that the server takes, with commas; undefined: the client's frame offered none. */
      readonly extensions: string | undefined;
      /** The move field: a ticket with seconds, or `!` and the reason why there is none. */
      readonly move: string | undefined;
    }
  | { readonly kind: 'push' | 'part'; readonly bytes: Buffer }
  /** The gateway's own JSON, if a function has failed. */
  | { readonly kind: 'error'; readonly text: string }
  /** An empty message. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'unknown'; readonly text: string };

const HEADER = /(?:\(([a-z,]*)\))?(?:@[0-9a-z]{13})?(?:![0-9]{1,4})?(?:\*([1-9][0-9]?))?(?:~([^:;]+))?([:;])/;
const FRAME = new RegExp(`^(?:${HEADER.source}|(&))?([A-Za-z0-9+/]*={0,2})$`);

export function readServerFrame(text: string): ServerFrame {
  if (text === '') return { kind: 'empty' };
  if (text.startsWith('{')) return { kind: 'error', text };
  const [, extensions, parts = '0', move, reply, part, base64] = FRAME.exec(text) ?? [];
  if (base64 === undefined) return { kind: 'unknown', text };
  const bytes = Buffer.from(base64, 'base64');
  if (reply !== undefined) return { kind: 'reply', bytes, parts: Number(parts), extensions, move };
  return { kind: part === undefined ? 'push' : 'part', bytes };
}
