import { PacketDecoder } from '@apus/mqtt';
import type { Strike } from './fault-plan.ts';
import { messageName, type Trace } from './trace.ts';

/** Characters of the description of a fault. */
const SUBJECT_LENGTH_MAX = 200;

export function traceStrike(trace: Trace, { name, subject }: Strike): void {
  const environmentId =
    typeof subject === 'object' && subject !== null && 'environmentId' in subject
      ? String(subject.environmentId)
      : undefined;
  trace.add(`fault ${name}: ${textOf(subject)}`, [], environmentId);
}

/** Without the headers of a handshake: a ticket in them is not drawn from the seed. */
function textOf(subject: unknown): string | undefined {
  const text = JSON.stringify(subject, (key, value) => (/headers$/i.test(key) ? undefined : value));
  return text?.slice(0, SUBJECT_LENGTH_MAX);
}

/** The invocations that handle each message. */
export function traceFrame(trace: Trace, environmentId: string, bytes: Buffer): void {
  const packets = new PacketDecoder({ protocolVersion: 5, maximumPacketSize: bytes.length + 1 }).push(bytes);
  const messages = packets.flatMap((packet) =>
    'type' in packet && packet.type === 'publish'
      ? [messageName(packet.topic, Buffer.from(packet.payload).toString())]
      : [],
  );
  if (messages.length > 0) trace.handled(messages, environmentId);
}
