import { splitPackets } from '../../src/packet.ts';

/** A client's frame, read by a strict server: docs/text-frames.md, section 2. */
export interface ClientFrame {
  readonly clock: string | undefined;
  readonly replyWanted: boolean;
  readonly packets: readonly Buffer[];
  /** The names of the offered extensions; `undefined`: the frame has no offer. */
  readonly offered: readonly string[] | undefined;
  /** The frame asks to move the session of this ticket to this connection; `undefined`: it asks for no move. */
  readonly ticket: string | undefined;
  /** The client has lost the connection of the ticket; it does not leave it. */
  readonly isResume?: boolean;
}

const MOVE_FRAME = /^~(!?)([A-Za-z0-9_=.-]{1,128})$/;

const CLIENT_FRAME =
  /^(?:\(((?:[a-z0-9-]+(?:,[a-z0-9-]+)*)?)\))?(?:@([0-9a-z]{13})(?=[.,]))?([.,])?([A-Za-z0-9+/]*={0,2})$/;

/** Returns `undefined` for a frame that a server may not accept. */
export function readClientFrame(text: string): ClientFrame | undefined {
  if (text === '{"action":"alive"}')
    return { clock: undefined, replyWanted: false, packets: [], offered: undefined, ticket: undefined };
  const [, lost, ticket] = MOVE_FRAME.exec(text) ?? [];
  if (ticket !== undefined)
    return {
      clock: undefined,
      replyWanted: true,
      packets: [],
      offered: undefined,
      ticket,
      isResume: lost !== '',
    };
  const match = CLIENT_FRAME.exec(text);
  if (match === null || text.length > 32_768) return undefined;
  const [, names, clock, marker, base64 = ''] = match;
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) return undefined;
  const packets = splitPackets(bytes);
  if (packets === undefined || (marker === ',' && packets.length === 0)) return undefined;
  if (names !== undefined && marker === ',') return undefined;
  return {
    clock,
    replyWanted: marker !== ',',
    packets: packets.map((packet) => Buffer.from(packet)),
    offered: names?.split(',').filter((name) => name !== ''),
    ticket: undefined,
  };
}
