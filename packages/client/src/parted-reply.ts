import type { ServerFrame } from './frame.ts';
import { HELD_BYTES_MAX } from './limits.ts';

export type Reply = Extract<ServerFrame, { kind: 'reply' }>;

/** A reply whose parts have all come. */
export interface WholeReply {
  readonly reply: Reply;
  /** The bytes of the reply, then those of its parts in their order. */
  readonly pieces: readonly Uint8Array<ArrayBuffer>[];
}

/**
 * Packets that did not fit into the frame of a reply come in parts, by another way than the reply (2). In either order
 * of arrival the transport hands them over behind the reply:
 *
 *     handler                            client
 *     posts part: message 3
 *                                        part: waits, for which reply is outstanding
 *     reply, one part: messages 1 and 2
 *                                        reply: 1, 2, then the part: 3
 */
export class PartedReply {
  #reply: Reply | undefined;
  #parts: Uint8Array<ArrayBuffer>[] = [];
  #bytes = 0;

  /** Some of a reply has come, and some is missing. */
  get isUnderWay(): boolean {
    return this.#reply !== undefined || this.#parts.length > 0;
  }

  /** False when a limit is passed: the connection has to end. */
  addPart(bytes: Uint8Array<ArrayBuffer>): boolean {
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    return this.#bytes <= HELD_BYTES_MAX;
  }

  /** False if another reply has come that is not whole yet. */
  setReply(reply: Reply): boolean {
    const isFirst = this.#reply === undefined;
    this.#reply = reply;
    return isFirst;
  }

  /** Undefined while a part is missing; 'too-many' if there are more parts than the reply announces. */
  take(): WholeReply | 'too-many' | undefined {
    const reply = this.#reply;
    const parts = this.#parts;
    if (reply === undefined || parts.length < reply.parts) return undefined;
    if (parts.length > reply.parts) return 'too-many';
    this.#reply = undefined;
    this.#parts = [];
    this.#bytes = 0;
    return { reply, pieces: [reply.bytes, ...parts] };
  }
}
