import type { MqttClient } from 'mqtt';
import type { Program } from './program.ts';

export interface Steady {
  /** Payloads in the order in which they came. */
  readonly received: readonly string[];
  /** Milliseconds from the publish to the arrival of each. */
  readonly latenciesMs: readonly number[];
}

/** Sends this many messages, one each interval, to another program, and waits until all have come. */
export async function sendSteadily(
  publisher: MqttClient,
  subscriber: Program,
  {
    messages,
    everyMs,
    topic,
  }: { readonly messages: number; readonly everyMs: number; readonly topic: string },
): Promise<Steady> {
  await subscriber.mqtt.subscribeAsync(topic, { qos: 1 });
  const sentAtMs = new Map<string, number>();
  const latenciesMs: number[] = [];
  const received: string[] = [];
  const all = new Promise<void>((resolve) => {
    subscriber.mqtt.on('message', (_topic, payload) => {
      const text = payload.toString();
      // At least once: on a busy machine a function may exceed its timeout and be repeated, as in the cloud.
      if (received.includes(text)) return;
      received.push(text);
      latenciesMs.push(performance.now() - (sentAtMs.get(text) ?? Number.NaN));
      if (received.length === messages) resolve();
    });
  });
  const answers: Promise<unknown>[] = [];
  for (let index = 0; index < messages; index += 1) {
    sentAtMs.set(String(index), performance.now());
    answers.push(publisher.publishAsync(topic, String(index), { qos: 1 }));
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  await Promise.all([...answers, all]);
  return { received, latenciesMs };
}

/** The value below which this share lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
