import { decodeServerFrame, type WebSocketClass, type WebSocketLike } from '@apus/client';

/** Called with each text frame of a socket before the transport handles it. */
export interface FrameListener {
  /** The socket has opened, and the server has handled the CONNECT of its handshake. */
  handshake(handshake: ConnectHandshake): void;
  frameOut(text: string): void;
  frameIn(text: string): void;
}

/** A CONNECT that came with the handshake (docs/text-frames.md, section 15). */
export interface ConnectHandshake {
  /** The CONNECT that the transport has offered. */
  readonly connect: Uint8Array;
  /** Characters of the subprotocol that contained it. */
  readonly characters: number;
  /** The handshake has answered it with CONNACK; otherwise the first reply brings CONNACK. */
  readonly isAccepted: boolean;
}

interface EventfulSocket extends WebSocketLike {
  addEventListener(type: 'open', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
}

/**
 * The same WebSocket class, with a listener on the frames of each of its sockets: the transport of the gateway door
 * opens its sockets itself.
 */
export function tapFrames(WebSocket: WebSocketClass, listenerOf: () => FrameListener): WebSocketClass {
  return class extends (WebSocket as new (...args: never[]) => EventfulSocket) {
    readonly #listener = listenerOf();

    constructor(...args: never[]) {
      super(...args);
      const [, subprotocols = []] = args as readonly unknown[] as readonly [unknown, (readonly string[])?];
      this.addEventListener('open', () => {
        const handshake = readHandshake(subprotocols, this.protocol);
        if (handshake !== undefined) this.#listener.handshake(handshake);
      });
      this.addEventListener('message', ({ data }) => {
        if (typeof data === 'string') this.#listener.frameIn(data);
      });
    }

    override send(data: string | Uint8Array<ArrayBuffer>): void {
      if (typeof data === 'string') this.#listener.frameOut(data);
      super.send(data);
    }
  };
}

/** The secret of a ticket, extensions, and CONNECT in base64url. */
const CONNECT_SUBPROTOCOL = /^mqtt-connect\.[\w-]*\.[a-z0-9+-]*\.([\w-]+)$/;

/** The end of the chosen subprotocol: CONNECT was accepted, or the first reply brings its CONNACK. */
const ANSWER = /^mqtt-text-v1\.1-([01])$/;

/** Undefined if the server has not handled a CONNECT in the handshake. */
export function readHandshake(offered: readonly string[], chosen: string): ConnectHandshake | undefined {
  const [, answer] = ANSWER.exec(chosen) ?? [];
  const subprotocol = offered.find((each) => CONNECT_SUBPROTOCOL.test(each));
  if (answer === undefined || subprotocol === undefined) return undefined;
  const [, connect = ''] = CONNECT_SUBPROTOCOL.exec(subprotocol) ?? [];
  const base64 = connect.replaceAll('-', '+').replaceAll('_', '/');
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return { connect: bytes, characters: subprotocol.length, isAccepted: answer === '0' };
}

/** A frame that the transport has sent (docs/text-frames.md, section 2). */
export interface ClientFrame {
  /** What it is where it is no frame of packets: a move, a resume (sections 12 and 13), or a sign of life (16). */
  readonly special: 'move' | 'resume' | 'alive' | undefined;
  readonly wantsReply: boolean;
  /** Whole MQTT packets, one after the other; empty for a fetch. */
  readonly bytes: Uint8Array;
}

/** An offer of extensions; a clock, which a marker has to follow; and a marker. */
const HEADER = /^(?:\([a-z0-9,-]*\))?(?:@[0-9a-z]{13}(?=[.,]))?([.,])?/;

const NOTHING = new Uint8Array(0);

export function readClientFrame(text: string): ClientFrame {
  const [header = '', marker] = HEADER.exec(text) ?? [];
  if (text.startsWith('{')) return { special: 'alive', wantsReply: false, bytes: NOTHING };
  if (text.startsWith('~'))
    return { special: text.startsWith('~!') ? 'resume' : 'move', wantsReply: true, bytes: NOTHING };
  // Base64 without a header reads as a push, whichever side has written it.
  const body = decodeServerFrame(text.slice(header.length));
  return {
    special: undefined,
    wantsReply: marker !== ',',
    bytes: body.kind === 'push' ? body.bytes : NOTHING,
  };
}
