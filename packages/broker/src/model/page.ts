import type { UserProperties } from '@apus/mqtt';

import type { Message } from './message.ts';

/** Bytes that a retained message counts beside its content: its place in a tree, a log or a table. */
const RETAINED_OVERHEAD_BYTES = 256;

/** Bytes that a user property counts beside its name and value. */
const USER_PROPERTY_OVERHEAD_BYTES = 32;

/** User properties of one message whose bytes are remembered: fewer are counted as fast. */
const REMEMBERED_MIN = 16;

/** Each queue asks for the bytes of a message, and a packet has room for 300,000 user properties [SEC-WORK-7]. */
const remembered = new WeakMap<UserProperties, number>();

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
  const bytes = (contentType?.length ?? 0) + (responseTopic?.length ?? 0) + (correlationData?.length ?? 0);
  return userProperties === undefined ? bytes : bytes + userPropertyBytes(userProperties);
}

function userPropertyBytes(userProperties: UserProperties): number {
  const isRemembered = userProperties.length >= REMEMBERED_MIN;
  const known = isRemembered ? remembered.get(userProperties) : undefined;
  if (known !== undefined) return known;
  let bytes = 0;
  for (const [name, value] of userProperties)
    bytes += name.length + value.length + USER_PROPERTY_OVERHEAD_BYTES;
  if (isRemembered) remembered.set(userProperties, bytes);
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

/** As many entries as the page takes. */
export function pageOf<T extends { readonly message: Message }>(entries: Iterable<T>, limit: PageLimit): T[] {
  const page = new Page<T>(limit);
  for (const entry of entries) {
    const bytes = messageBytes(entry.message);
    if (!page.hasRoom(bytes)) break;
    page.add(entry, bytes);
  }
  return page.entries;
}

/**
 * The limits of one page. The page ends before the message that would exceed either. The first message always fits,
 * however large, so reading page after page comes to an end.
 */
export interface PageLimit {
  readonly messages: number;
  /** Bytes of topics and payloads. */
  readonly bytes: number;
  /** Entries that a store looks at: then the page ends, even if it is empty. @default any number */
  readonly lookedAt?: number;
}
