/** A server frame at the gateway door (docs/text-frames.md, section 2). This reader shares no code with the broker. */
export type ServerFrame =
  | {
      readonly kind: 'reply';
      readonly bytes: Buffer;
      /** More messages wait: the client has to fetch them. */
      readonly more: boolean;
      /** The number of packets of the frame that were handled; undefined: all of them. */
      readonly taken: number | undefined;
      readonly clock: string | undefined;
      /** Extensions that the server takes; undefined: it names none. */
      readonly extensions: readonly string[] | undefined;
      /** The move field: a ticket and seconds, or `!` and a refusal. */
      readonly move: string | undefined;
      /** The number of further frames that belong to it. */
      readonly parts: number;
    }
  | { readonly kind: 'push' | 'part'; readonly bytes: Buffer }
  /** The gateway's own JSON. */
  | { readonly kind: 'error'; readonly text: string }
  /** Messages wait: the client has to fetch them. */
  | { readonly kind: 'nudge' }
  | { readonly kind: 'nothing' };

const BASE64 = '((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)';
const NAMES = '(?:\\(((?:[a-z0-9-]+(?:,[a-z0-9-]+)*)?)\\))?';
const REPLY = new RegExp(
  `^${NAMES}(?:@([0-9a-z]{13}))?(?:!([0-9]{1,4}))?(?:\\*([1-9][0-9]?))?(?:~([A-Za-z0-9_=.-]+,[0-9]{1,6}(?:,[0-9]{1,4}(?:,g)?)?|![a-z]+))?([:;])${BASE64}$`,
);
const PART = new RegExp(`^&${BASE64}$`);
const PUSH = new RegExp(`^${BASE64}$`);

/** @throws if the frame is none of them */
export function readServerFrame(text: string): ServerFrame {
  if (text === '') return { kind: 'nothing' };
  if (text === '?') return { kind: 'nudge' };
  if (text.startsWith('{')) return { kind: 'error', text };
  const push = PUSH.exec(text)?.[1];
  if (push !== undefined) return { kind: 'push', bytes: Buffer.from(push, 'base64') };
  const part = PART.exec(text)?.[1];
  if (part) return { kind: 'part', bytes: Buffer.from(part, 'base64') };
  const [, names, clock, taken, parts = '0', move, marker, base64] = REPLY.exec(text) ?? [];
  if (base64 === undefined) throw new Error(`not a frame of mqtt-text-v1: ${text.slice(0, 100)}`);
  return {
    kind: 'reply',
    bytes: Buffer.from(base64, 'base64'),
    more: marker === ';',
    taken: taken === undefined ? undefined : Number(taken),
    clock,
    extensions: names?.split(',').filter((name) => name !== ''),
    parts: Number(parts),
    move,
  };
}
