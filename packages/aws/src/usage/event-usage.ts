import { addCounts, type LinkState, noUsage, type UsageCounter, type UsageCounts } from '@apus/broker';
import { Frame, type OutgoingPacket, publishQosOf } from '../frames/frame.ts';
import type { Poster } from '../posts/poster.ts';

/** API Gateway bills each frame by this much begun. */
const BILLED_BYTES = 32 * 1_024;

/** The tenant of a connection, present or ended. Undefined before its CONNECT. */
export function tenantOf(state: LinkState | undefined): string | undefined {
  if (state?.phase === 'closed') return tenantOf(state.before);
  return state?.phase === 'connected' ? state.connection.identity.tenant : undefined;
}

/**
 * The usage of one event. A message never leaves its tenant, so everything that an event sends belongs to the tenant
 * of the connection, the message or the timer that has caused it.
 */
export class EventUsage {
  readonly #usage: UsageCounter;
  #tenant: string;
  #counts: UsageCounts = noUsage();

  /** @param tenant is charged for frames of connections that never send a valid CONNECT */
  constructor(usage: UsageCounter, tenant: string) {
    this.#usage = usage;
    this.#tenant = tenant;
  }

  isOf(tenant: string | undefined): void {
    this.#tenant = tenant ?? this.#tenant;
  }

  /** A frame of a client, as text, with so many bytes of MQTT. */
  frameIn(text: string, mqttBytes: number): void {
    this.#counts.framesIn += billedFrames(text);
    this.#counts.bytesIn += mqttBytes;
  }

  messageIn(bytes = 0): void {
    this.#counts.messagesIn += 1;
    this.#counts.bytesIn += bytes;
  }

  /** The connection has ended. */
  connection(ms: number): void {
    this.#counts.connectionMs += Math.max(0, Math.round(ms));
  }

  /** A frame has left with these packets. */
  sent(text: string, packets: readonly OutgoingPacket[]): void {
    addCounts(this.#counts, sentUsage(text, packets));
  }

  /** A frame has been posted. */
  posted(frame: Frame | string): void {
    if (frame instanceof Frame) this.sent(frame.bytes, frame.outgoing);
    else this.sent(frame, []);
  }

  /** Hands over what the event has used so far. */
  handOver(): void {
    this.#usage.add(this.#tenant, this.#counts);
    this.#counts = noUsage();
  }
}

/** The poster of an event, which counts its successful posts. */
export function countedPoster(poster: Poster, usage: EventUsage): Poster {
  return {
    async post(connectionId, frame, mayRepeat) {
      const outcome = await poster.post(connectionId, frame, mayRepeat);
      if (outcome === 'sent') usage.posted(frame);
      return outcome;
    },
    delete: (connectionId) => poster.delete(connectionId),
    get: (connectionId, untilMs) => poster.get(connectionId, untilMs),
    willPost: (connectionId) => poster.willPost?.(connectionId),
    isPageUnderWay: (connectionId) => poster.isPageUnderWay?.(connectionId) ?? false,
  };
}

/** A frame that has been posted. */
export function frameUsage(frame: Frame): Partial<UsageCounts> {
  return sentUsage(frame.bytes, frame.outgoing);
}

function sentUsage(text: string, packets: readonly OutgoingPacket[]): Partial<UsageCounts> {
  return { framesOut: billedFrames(text), ...packetCounts(packets) };
}

function billedFrames(text: string): number {
  // A frame this short is one billed message even if each character takes four bytes.
  const bytes = text.length * 4 <= BILLED_BYTES ? text.length : Buffer.byteLength(text);
  return Math.max(1, Math.ceil(bytes / BILLED_BYTES));
}

function packetCounts(packets: readonly OutgoingPacket[]): Partial<UsageCounts> {
  const byQos: [number, number, number] = [0, 0, 0];
  let bytesOut = 0;
  for (const { bytes } of packets) {
    bytesOut += bytes.length;
    const qos = publishQosOf(bytes);
    if (qos !== undefined) byQos[qos] += 1;
  }
  const [messagesOutQos0, messagesOutQos1, messagesOutQos2] = byQos;
  return { bytesOut, messagesOutQos0, messagesOutQos1, messagesOutQos2 };
}
