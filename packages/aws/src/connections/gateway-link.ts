import type { ConnectionId, Link, LinkState, Peer } from '@apus/broker';
import { encodePacket, type Packet, type ProtocolVersion } from '@apus/mqtt';
import { PacketsOut } from '../frames/packets-out.ts';
import { type Extension, PACKED_BYTES_MAX } from '../frames/text-frame.ts';

/** A page is measured in topics and payloads. This is for the other bytes of its packets. */
const HEADERS_BYTES = 2_048;

/**
 * Limits on past messages of streams after the SUBACKs of one frame. Their reply has up to 99 parts of 24 KB; a MiB
 * costs 256 read units.
 */
const PAST_MESSAGES_MAX = 1_000;
const PAST_BYTES_MAX = 1024 * 1024;

/** Bytes of the positions in one SUBACK: it is one packet of a reply, which takes 98,286. */
const POSITION_BYTES_MAX = 65_536;

/** Messages wait for the session that no link had room for. */
export function hasMore(state: LinkState): boolean {
  return state.phase === 'connected' && (state.isDraining || state.replays.length > 0);
}

/**
 * Bytes of the replays that are stored with a connection, in an item of at most 400 KB. Above them a SUBSCRIBE waits:
 * its frame, of 24 KB, may add the replays of six thousand filters.
 */
const REPLAYS_BYTES_MAX = 65_536;

/** Of each replay, beside its filter and its cursor. */
const REPLAY_BYTES = 80;

/** Whether as many retained messages wait for the client as its connection may store the replays of. */
export function hasFullReplays(state: LinkState): boolean {
  if (state.phase !== 'connected') return false;
  let bytes = 0;
  for (const { topicFilter, from = '' } of state.replays)
    bytes += REPLAY_BYTES + Buffer.byteLength(topicFilter) + Buffer.byteLength(from);
  return bytes > REPLAYS_BYTES_MAX;
}

/** A network connection while one of its frames is handled. Gathers the packets that the broker sends. */
export class GatewayLink implements Link {
  readonly id: ConnectionId;
  readonly peer: Peer;
  readonly out: PacketsOut;
  /** Extensions that the client has offered with its CONNECT. */
  readonly offered: readonly string[];
  state: LinkState;
  /** Absent if the session's record keeps other messages behind its page. */
  beforePage?: () => Promise<(() => void) | undefined>;
  readonly pastRoom = {
    messages: PAST_MESSAGES_MAX,
    bytes: PAST_BYTES_MAX,
    positionBytes: POSITION_BYTES_MAX,
  };
  #endedBy: 'client' | 'server' | undefined;
  #ranOutOfRoom = false;
  #isPutOff = false;

  /**
   * @param out packets for the frame's reply
   * @param offered extensions that the frame offers with its CONNECT
   */
  constructor(
    id: ConnectionId,
    peer: Peer,
    state: LinkState,
    out = new PacketsOut(),
    offered: readonly Extension[] = [],
  ) {
    this.id = id;
    this.peer = peer;
    this.state = state;
    this.out = out;
    // An exchange of AUTH goes on in later frames, which offer nothing.
    this.offered = (state.phase === 'authenticating' ? state.offered : undefined) ?? offered;
  }

  /** The client fetches when it is told that messages wait. */
  get takesNudges(): boolean {
    return this.offered.includes('nudge');
  }

  /** Which side has ended the network connection; undefined while it is open. */
  get endedBy(): 'client' | 'server' | undefined {
    return this.#endedBy;
  }

  /**
   * Messages wait that the next frame may fetch. Acknowledgements dequeue messages that the window holds back, in a
   * frame with a reply or without; retained messages that the window holds back are sent only with a reply.
   */
  get isMoreWaiting(): boolean {
    const { state } = this;
    if (state.phase === 'connected' && state.replays.length > 0) return true;
    return this.#ranOutOfRoom && hasMore(state);
  }

  /** Bytes that still fit into the reply's frame: a page of the queue. The client fetches the next page. */
  roomBytes(): number {
    const bytes = this.#isPutOff ? 0 : PACKED_BYTES_MAX - HEADERS_BYTES - this.out.bytes;
    if (bytes <= 0) this.#ranOutOfRoom = true;
    return bytes;
  }

  send(packet: Packet, version: ProtocolVersion): void {
    if (this.#endedBy === undefined) this.out.push(encodePacket(packet, version), true);
  }

  /** The reply says that more is waiting, and the client fetches it: a frame is one turn [SEC-POOL-6]. */
  takeTurn(): void {
    this.#isPutOff = true;
  }

  putOff(): void {
    this.#isPutOff = true;
  }

  close(endedBy: 'client' | 'server'): void {
    this.#endedBy ??= endedBy;
  }
}
