import { type Delivery, type Message, remainingSeconds } from '@apus/broker';
import type { ProtocolVersion } from '@apus/mqtt';
import { type PreparedPublish, preparePublish } from './prepared-publish.ts';
import type { TopicForm } from './topic-aliases.ts';

/** The encodings of one message that its recipients need, each made once. */
export class PublishVariants {
  readonly #message: Message;
  readonly #messageExpiryInterval: number | undefined;
  /**
   * The variant without subscription identifiers and aliases, by its remaining bits: the first one, and a map for
   * others.
   */
  #firstBits = -1;
  #first: PreparedPublish | undefined;
  #plain: Map<number, PreparedPublish> | undefined;
  #special: Map<string, PreparedPublish> | undefined;

  constructor(message: Message, nowMs: number) {
    this.#message = message;
    this.#messageExpiryInterval = expiryInterval(message, nowMs);
  }

  for(delivery: Delivery, version: ProtocolVersion, form: TopicForm | undefined): PreparedPublish {
    const bits = bitsOf(delivery, version);
    // Only MQTT 5.0 has properties.
    if (version === 5 && (form !== undefined || delivery.subscriptionIdentifiers !== undefined)) {
      return this.#specialFor(delivery, version, form, bits);
    }
    if (this.#first === undefined) {
      this.#firstBits = bits;
      this.#first = this.#prepare(delivery, version, undefined);
    }
    return bits === this.#firstBits ? this.#first : this.#plainFor(delivery, version, bits);
  }

  #plainFor(delivery: Delivery, version: ProtocolVersion, bits: number): PreparedPublish {
    this.#plain ??= new Map();
    let prepared = this.#plain.get(bits);
    if (prepared === undefined) {
      prepared = this.#prepare(delivery, version, undefined);
      this.#plain.set(bits, prepared);
    }
    return prepared;
  }

  #specialFor(
    delivery: Delivery,
    version: ProtocolVersion,
    form: TopicForm | undefined,
    bits: number,
  ): PreparedPublish {
    const topic = form === undefined ? '' : `${form.alias}${form.known ? '' : '!'}`;
    const key = `${bits} ${topic} ${delivery.subscriptionIdentifiers?.join() ?? ''}`;
    this.#special ??= new Map();
    let prepared = this.#special.get(key);
    if (prepared === undefined) {
      prepared = this.#prepare(delivery, version, form);
      this.#special.set(key, prepared);
    }
    return prepared;
  }

  #prepare(delivery: Delivery, version: ProtocolVersion, form: TopicForm | undefined): PreparedPublish {
    return preparePublish(this.#message, delivery, version, form, this.#messageExpiryInterval);
  }
}

function bitsOf(delivery: Delivery, version: ProtocolVersion): number {
  return (version === 5 ? 16 : 0) | (delivery.qos << 2) | (delivery.retain ? 2 : 0) | (delivery.dup ? 1 : 0);
}

/** The seconds that are left [MQTT-3.3.2-6]. A delivery that has begun is finished even after the expiry: then 1. */
function expiryInterval(message: Message, nowMs: number): number | undefined {
  if (message.expiresAtMs === undefined) return undefined;
  return Math.max(1, remainingSeconds(message.expiresAtMs, nowMs));
}
