/** What a deployment sends (docs/text-frames.md, section 2). */
export type ServerFrame =
  | { readonly kind: 'reply' | 'push'; readonly bytes: Buffer }
  /** The gateway's own JSON, where a function has failed. */
  | { readonly kind: 'error'; readonly text: string }
  /** A message with nothing in it. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'unknown'; readonly text: string };

const FRAME = /^(?:(?:@[0-9a-z]{13})?(?:![0-9]{1,4})?([:;]))?([A-Za-z0-9+/]*={0,2})$/;

export function readServerFrame(text: string): ServerFrame {
  if (text === '') return { kind: 'empty' };
  if (text.startsWith('{')) return { kind: 'error', text };
  const [, marker, base64] = FRAME.exec(text) ?? [];
  if (base64 === undefined) return { kind: 'unknown', text };
  return { kind: marker === undefined ? 'push' : 'reply', bytes: Buffer.from(base64, 'base64') };
}
