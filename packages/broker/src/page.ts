import type { Message } from './message.ts';
import type { PageLimit } from './ports/page.ts';

/** Bytes that a retained message counts beside its content: its place in a tree, a log or a table. */
const RETAINED_OVERHEAD_BYTES = 256;

/** Bytes that a user property counts beside its name and value. */
const USER_PROPERTY_OVERHEAD_BYTES = 32;

/** The bytes of a message that count towards a limit. */
export function messageBytes({
  topic,
  payload,
  properties,
}: Pick<Message, 'topic' | 'payload' | 'properties'>): number {
  return Buffer.byteLength(topic) + payload.length + propertyBytes(properties);
}

/** A retained message counts so much towards a limit in bytes [SEC-MEMORY-3]. */
export function retainedBytes(message: Message): number {
  return messageBytes(message) + RETAINED_OVERHEAD_BYTES;
}

/** Properties may be as long as a packet: a message without a payload is not small. */
function propertyBytes({
  contentType,
  responseTopic,
  correlationData,
  userProperties,
}: Message['properties']): number {
  let bytes = (contentType?.length ?? 0) + (responseTopic?.length ?? 0) + (correlationData?.length ?? 0);
  if (userProperties === undefined) return bytes;
  for (const [name, value] of userProperties)
    bytes += name.length + value.length + USER_PROPERTY_OVERHEAD_BYTES;
  return bytes;
}

/** A page while a store fills it. */
export class Page<T> {
  readonly entries: T[] = [];
  readonly #limit: PageLimit;
  #bytes = 0;

  constructor(limit: PageLimit) {
    this.#limit = limit;
  }

  /** How many more messages the page takes. */
  get messagesLeft(): number {
    return Math.max(this.entries.length === 0 ? 1 : 0, this.#limit.messages - this.entries.length);
  }

  /** The first entry always has room, so that no page is empty for being small. */
  hasRoom(bytes: number): boolean {
    if (this.entries.length === 0) return true;
    return this.entries.length < this.#limit.messages && this.#bytes + bytes <= this.#limit.bytes;
  }

  add(entry: T, bytes: number): void {
    this.entries.push(entry);
    this.#bytes += bytes;
  }
}
