import type { ConnectionId, Link, LinkState, Peer } from '@apus/broker';
import { encodePacket, type Packet, type ProtocolVersion } from '@apus/mqtt';
import { PacketsOut } from '../frames/packets-out.ts';
import { type Extension, PACKED_BYTES_MAX } from '../frames/text-frame.ts';

/** A page is measured in topics and payloads: this is for the headers and properties of its packets. */
const HEADERS_BYTES = 2_048;

/**
 * Limits on the past of streams behind the SUBACKs of one frame. Their reply has parts of 24 KB, of which there may be
 * 99; a MiB costs 256 read units.
 */
const PAST_MESSAGES_MAX = 1_000;
const PAST_BYTES_MAX = 1024 * 1024;

/** Something waits for the session that no link had room for. */
export function hasMore(state: LinkState): boolean {
  return state.phase === 'connected' && (state.isDraining || state.replays.length > 0);
}

/** One network connection while a frame of it is handled. It gathers the packets that the broker sends. */
export class GatewayLink implements Link {
  readonly id: ConnectionId;
  readonly peer: Peer;
  readonly out: PacketsOut;
  /** Extensions that the client has offered with its CONNECT. */
  readonly offered: readonly string[];
  state: LinkState;
  /** Absent where a session's record keeps other messages behind its page. */
  beforePage?: () => Promise<(() => void) | undefined>;
  readonly pastRoom = { messages: PAST_MESSAGES_MAX, bytes: PAST_BYTES_MAX };
  #endedBy: 'client' | 'server' | undefined;
  #ranOutOfRoom = false;
  #isPutOff = false;

  /**
   * @param out what the frame's reply takes along
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
    // An exchange of AUTH goes on in later frames, where nothing is offered.
    this.offered = (state.phase === 'authenticating' ? state.offered : undefined) ?? offered;
  }

  /** Something can be said to wait, and the client fetches it. */
  get takesNudges(): boolean {
    return this.offered.includes('nudge');
  }

  /** The side that has ended the network connection; undefined while it goes on. */
  get endedBy(): 'client' | 'server' | undefined {
    return this.#endedBy;
  }

  /**
   * Messages wait for the session that the next frame may fetch. Acknowledgements dequeue the messages that the window
   * holds back, in a frame with a reply or without; only a frame with a reply sends retained messages that the window
   * holds back.
   */
  get isMoreWaiting(): boolean {
    const { state } = this;
    if (state.phase === 'connected' && state.replays.length > 0) return true;
    return this.#ranOutOfRoom && hasMore(state);
  }

  /** The bytes that still fit into the reply's frame: a page of the queue, and the client fetches the next. */
  roomBytes(): number {
    const bytes = this.#isPutOff ? 0 : PACKED_BYTES_MAX - HEADERS_BYTES - this.out.bytes;
    if (bytes <= 0) this.#ranOutOfRoom = true;
    return bytes;
  }

  send(packet: Packet, version: ProtocolVersion): void {
    if (this.#endedBy === undefined) this.out.push(encodePacket(packet, version), true);
  }

  putOff(): void {
    this.#isPutOff = true;
  }

  close(endedBy: 'client' | 'server'): void {
    this.#endedBy ??= endedBy;
  }
}
