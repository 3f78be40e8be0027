import { PacketDecoder } from '@apus/mqtt';
import type { Strike } from './fault-plan.ts';
import { messageName, type Trace } from './trace.ts';

export function traceStrike(trace: Trace, { name, subject }: Strike): void {
  const environmentId =
    typeof subject === 'object' && subject !== null && 'environmentId' in subject
      ? String(subject.environmentId)
      : undefined;
  // The secret of a ticket is drawn anew in each run.
  const text = JSON.stringify(subject)?.replace(/mqtt-connect\.[\w-]{22}/g, 'mqtt-connect.…');
  trace.add(`fault ${name}: ${text?.slice(0, 200)}`, [], environmentId);
}

/** Which invocation handles which messages. */
export function traceFrame(trace: Trace, environmentId: string, bytes: Buffer): void {
  const packets = new PacketDecoder({ protocolVersion: 5, maximumPacketSize: bytes.length + 1 }).push(bytes);
  const messages = packets.flatMap((packet) =>
    'type' in packet && packet.type === 'publish'
      ? [messageName(packet.topic, Buffer.from(packet.payload).toString())]
      : [],
  );
  if (messages.length > 0) trace.handled(messages, environmentId);
}
