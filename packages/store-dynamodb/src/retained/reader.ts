import type { Message } from '@apus/broker';
import type { Bodies, BodyRef } from '../table/bodies.ts';
import { decodeMessage } from '../table/message-blob.ts';
import { bytesOf, type Item, numberOf, textOf } from '../table/values.ts';

/** Items of retained messages as messages. */
export class RetainedReader {
  readonly #bodies: Bodies;

  constructor(bodies: Bodies) {
    this.#bodies = bodies;
  }

  /** Undefined: a tombstone, or its body was just replaced. */
  async read(tenant: string, item: Item): Promise<Message | undefined> {
    const ref = refOf(item);
    const blob = ref === undefined ? bytesOf(item, 'b') : await this.#body(tenant, ref);
    return blob === undefined ? undefined : decodeMessage(blob);
  }

  async #body(tenant: string, ref: BodyRef): Promise<Uint8Array | undefined> {
    return this.#bodies.join(tenant, ref, await this.#bodies.load(tenant, [ref]));
  }
}

function refOf(item: Item): BodyRef | undefined {
  const pieces = numberOf(item, 'bn');
  return pieces === undefined ? undefined : { messageId: textOf(item, 'm') ?? '', pieces };
}
