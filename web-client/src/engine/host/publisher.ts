import { validateTopicName } from '@apus/mqtt/topic';
import type { MqttClient, Packet } from 'mqtt';
import type { Outcome, PublishRequest } from '../types.ts';
import { publishLength } from '../wire/publish-length.ts';
import { asBuffer, toMqttProperties } from './mqtt-properties.ts';
import { trouble, troubleOf } from './troubles.ts';

interface Answer {
  readonly code: number;
  readonly detail: string;
}

/** Publishes, and reports the outcome of each message. */
export class Publisher {
  readonly #now: () => number;
  /** The server's answers by packet identifier: mqtt.js does not report them if they mean success. */
  readonly #answers = new Map<number, Answer>();
  readonly #open = new Set<(outcome: Outcome) => void>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param packetBytesMax the largest packet that the server takes: a larger one would end the connection (0x95) */
  publish(client: MqttClient, request: PublishRequest, packetBytesMax: number): Promise<Outcome> {
    const { topic, payload, qos, retain, properties = {} } = request;
    const startedAtMs = this.#now();
    const alias = properties.topicAlias;
    // A topic may be empty where an alias stands for it.
    const wrong = topic === '' && alias !== undefined ? undefined : validateTopicName(topic);
    if (wrong !== undefined) {
      const invalid = trouble('invalid', startedAtMs, undefined, wrong.reason);
      return Promise.resolve({ ok: false, reasonCode: undefined, trouble: invalid, durationMs: 0 });
    }
    const bytes = publishLength(request, client.options.protocolVersion ?? 5);
    if (bytes > packetBytesMax) {
      const detail = `${bytes.toLocaleString('en')} of ${packetBytesMax.toLocaleString('en')} bytes`;
      const tooLarge = trouble('too-large', startedAtMs, undefined, detail);
      return Promise.resolve({ ok: false, reasonCode: undefined, trouble: tooLarge, durationMs: 0 });
    }
    return new Promise((resolve) => {
      const finish = (outcome: Outcome): void => {
        if (this.#open.delete(finish)) resolve(outcome);
      };
      this.#open.add(finish);
      // QoS 0 calls back at once, before there is an identifier.
      let id: number | undefined;
      const idBefore = client.getLastMessageId();
      const options = { qos, retain, properties: toMqttProperties(properties) };
      client.publish(topic, asBuffer(payload), options, (error) => {
        const answer = id === undefined ? undefined : this.#answers.get(id);
        if (id !== undefined) this.#answers.delete(id);
        finish(this.#outcome(client, answer, error, this.#now() - startedAtMs));
      });
      const idAfter = client.getLastMessageId();
      // If mqtt.js delays publishes (while it resends), the identifier is not known yet.
      if (qos > 0 && idAfter !== idBefore) id = idAfter;
    });
  }

  packetReceived(packet: Packet): void {
    if (packet.cmd !== 'puback' && packet.cmd !== 'pubrec') return;
    const { messageId, reasonCode = 0, properties } = packet;
    if (messageId !== undefined)
      this.#answers.set(messageId, { code: reasonCode, detail: properties?.reasonString ?? '' });
  }

  /** The connection is lost: every waiting caller gets an answer, although mqtt.js may still send QoS 1 and 2 again. */
  lost(): void {
    this.#answers.clear();
    const offline = trouble('offline', this.#now());
    for (const finish of [...this.#open]) {
      finish({ ok: false, reasonCode: undefined, trouble: offline, durationMs: 0 });
    }
  }

  #outcome(
    { options: { protocolVersion } }: MqttClient,
    answer: Answer | undefined,
    error: Error | null | undefined,
    durationMs: number,
  ): Outcome {
    const reasonCode = protocolVersion === 5 ? answer?.code : undefined;
    if (!error) return { ok: true, reasonCode, trouble: undefined, durationMs };
    const said =
      reasonCode === undefined || reasonCode < 0x80
        ? troubleOf(error, this.#now(), protocolVersion ?? 5)
        : trouble('reason', this.#now(), reasonCode, answer?.detail);
    return { ok: false, reasonCode, trouble: said, durationMs };
  }
}
