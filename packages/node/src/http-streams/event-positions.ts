import { parsePosition } from '@apus/broker';

/** Bytes of the id of an event. A browser sends it in a header, beside its cookies. */
export const EVENT_ID_BYTES_MAX = 4_096;

/** The id where no topic has a message yet. */
const NOTHING_YET = '0';

/** The id where positions do not fit into one: the client is told of a gap when it comes back. */
const TOO_LONG = '-';

/**
 * How far the client of an event stream is, as the id of its events: `EPOCH-N` where it reads one topic, otherwise
 * `EPOCH-N TOPIC` for each topic, percent-encoded.
 */
export class EventPositions {
  readonly #onlyTopic: string | undefined;
  readonly #positions = new Map<string, string>();
  #bytes = 0;

  /** @param onlyTopic the client reads this topic alone */
  constructor(onlyTopic: string | undefined) {
    this.#onlyTopic = onlyTopic;
  }

  set(topic: string, position: string): void {
    if (this.#isTooLong) return;
    const before = this.#positions.get(topic);
    this.#bytes +=
      before === undefined ? position.length + encodeURI(topic).length + 2 : position.length - before.length;
    this.#positions.set(topic, position);
    if (this.#isTooLong) this.#positions.clear();
  }

  /** It stays so: topics only come to it. */
  get #isTooLong(): boolean {
    return this.#bytes > EVENT_ID_BYTES_MAX;
  }

  toString(): string {
    if (this.#isTooLong) return TOO_LONG;
    if (this.#positions.size === 0) return NOTHING_YET;
    const only = this.#onlyTopic === undefined ? undefined : this.#positions.get(this.#onlyTopic);
    if (only !== undefined) return only;
    return [...this.#positions].map(([topic, position]) => `${position} ${encodeURI(topic)}`).join(' ');
  }
}

/** The positions in the id that a client has sent. Undefined: it says none. */
export function readEventId(
  id: string,
  onlyTopic: string | undefined,
): ReadonlyMap<string, string> | undefined {
  const positions = new Map<string, string>();
  if (id === NOTHING_YET) return positions;
  if (id.length > EVENT_ID_BYTES_MAX) return undefined;
  const words = id.split(' ');
  if (onlyTopic !== undefined && words.length === 1) words.push(encodeURI(onlyTopic));
  for (let index = 0; index < words.length; index += 2) {
    const [position = '', encoded = ''] = words.slice(index, index + 2);
    const topic = decoded(encoded);
    if (parsePosition(position) === undefined || topic === undefined) return undefined;
    positions.set(topic, position);
  }
  return positions;
}

function decoded(topic: string): string | undefined {
  try {
    return decodeURI(topic) || undefined;
  } catch {
    return undefined;
  }
}
