import { decodeServerFrame, type WebSocketClass, type WebSocketLike } from '@apus/client';

/** Hears each text frame of a socket before the transport handles it. */
export interface FrameListener {
  frameOut(text: string): void;
  frameIn(text: string): void;
}

interface EventfulSocket extends WebSocketLike {
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
      this.addEventListener('message', ({ data }) => {
        if (typeof data === 'string') this.#listener.frameIn(data);
      });
    }

    override send(text: string): void {
      this.#listener.frameOut(text);
      super.send(text);
    }
  };
}

/** A frame that the transport has sent (docs/text-frames.md, section 2). */
export interface ClientFrame {
  readonly wantsReply: boolean;
  /** Whole MQTT packets, one behind the other; none in a fetch. */
  readonly bytes: Uint8Array;
}

/** An offer of extensions; a clock, which a marker has to follow; and a marker. */
const HEADER = /^(?:\([a-z0-9,-]*\))?(?:@[0-9a-z]{13}(?=[.,]))?([.,])?/;

const NOTHING = new Uint8Array(0);

export function readClientFrame(text: string): ClientFrame {
  const [header = '', marker] = HEADER.exec(text) ?? [];
  // Base64 without a header reads as a push, whichever side has written it.
  const body = decodeServerFrame(text.slice(header.length));
  return { wantsReply: marker !== ',', bytes: body.kind === 'push' ? body.bytes : NOTHING };
}
