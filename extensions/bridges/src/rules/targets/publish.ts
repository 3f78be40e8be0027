import {
  type Awaitable,
  type Clock,
  isExpired,
  type Message,
  type PublishReceipt,
  type PublishRequest,
  remainingSeconds,
} from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import { filledByTopic } from '../../configuration/template.ts';
import type { PublishConfiguration } from '../configuration/targets.ts';
import type { Failure, Target } from '../target.ts';

/** The part of the broker that this target needs. */
export interface PublishContext {
  /** The answer means that the broker has stored the message. */
  publish(request: PublishRequest): Awaitable<PublishReceipt | Violation>;
  readonly clock: Clock;
}

/** Publishes to another topic of this broker. The rule's hop limit bounds a loop. */
export class PublishTarget implements Target {
  readonly type = 'publish';
  readonly remote: string;
  readonly batch = { messagesMax: 1, bytesMax: 0, isPartial: false };
  readonly #tenant: string;
  readonly #configuration: PublishConfiguration;
  readonly #context: PublishContext;

  constructor(tenant: string, configuration: PublishConfiguration, context: PublishContext) {
    this.remote = configuration.topic.text;
    this.#tenant = tenant;
    this.#configuration = configuration;
    this.#context = context;
  }

  async send(batch: readonly Message[]): Promise<Failure | undefined> {
    const [message] = batch;
    if (message === undefined || isExpired(message, this.#context.clock.now())) return undefined;
    const request = this.#requestOf(message);
    // A publisher may choose a level of the topic, but must not choose a topic that makes the broker act.
    if (request.topic.startsWith('$') && !this.remote.startsWith('$'))
      return { messages: batch, error: `its topic would be ${request.topic}`, isPermanent: true };
    const answer = await this.#context.publish(request);
    if (!(answer instanceof Violation)) return undefined;
    const isPermanent = answer.reasonCode !== ReasonCode.QuotaExceeded;
    return { messages: batch, error: answer.reason, isPermanent };
  }

  async stop(): Promise<void> {}

  #requestOf({ topic, payload, qos, properties, expiresAtMs }: Message) {
    const { topic: template, qos: other, retain } = this.#configuration;
    const expiry =
      expiresAtMs === undefined
        ? {}
        : { messageExpiryInterval: remainingSeconds(expiresAtMs, this.#context.clock.now()) };
    return {
      ...{ tenant: this.#tenant, topic: filledByTopic(template, topic), payload, qos: other ?? qos, retain },
      properties: { ...properties, ...expiry },
    };
  }
}
