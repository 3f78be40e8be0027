const PACKET_ID_MAX = 65_535;

/** Packet ids of the messages under way in one direction, at most this many at a time. */
export class PacketIds<T> {
  readonly #underWay = new Map<number, T>();
  #last = 0;
  /** The other side's Receive Maximum, or less. */
  windowMax: number;

  constructor(windowMax: number) {
    this.windowMax = windowMax;
  }

  get hasRoom(): boolean {
    return this.#underWay.size < this.windowMax;
  }

  get size(): number {
    return this.#underWay.size;
  }

  /** A free id. Call only while there is room. */
  draw(item: T): number {
    do this.#last = (this.#last % PACKET_ID_MAX) + 1;
    while (this.#underWay.has(this.#last));
    this.#underWay.set(this.#last, item);
    return this.#last;
  }

  /** Returns the message of the id; the id is free again. */
  release(packetId: number): T | undefined {
    const item = this.#underWay.get(packetId);
    this.#underWay.delete(packetId);
    return item;
  }

  get(packetId: number): T | undefined {
    return this.#underWay.get(packetId);
  }
}
