import type { Message } from '@apus/broker';
import type { Bodies, BodyRef } from './bodies.ts';
import { decodeMessage } from './message-blob.ts';
import { bytesOf, type Item, numberOf, textOf } from './values.ts';

/** Items of retained messages as messages. */
export class RetainedReader {
  readonly #bodies: Bodies;

  constructor(bodies: Bodies) {
    this.#bodies = bodies;
  }

  /** In the order of the items; undefined for tombstones, and for one whose body was just replaced. */
  async read(tenant: string, items: readonly Item[]): Promise<(Message | undefined)[]> {
    const refs = items.map(refOf);
    const found = await this.#bodies.load(
      tenant,
      refs.filter((ref) => ref !== undefined),
    );
    return items.map((item, index) => {
      const ref = refs[index];
      const blob = ref === undefined ? bytesOf(item, 'b') : this.#bodies.join(tenant, ref, found);
      return blob === undefined ? undefined : decodeMessage(blob);
    });
  }
}

function refOf(item: Item): BodyRef | undefined {
  const pieces = numberOf(item, 'bn');
  return pieces === undefined ? undefined : { messageId: textOf(item, 'm') ?? '', pieces };
}
