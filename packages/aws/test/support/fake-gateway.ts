import { parser as createParser, type Packet } from 'mqtt-packet';
import { packetLength } from '../../../../test/support/packet-length.ts';
import { readServerFrame } from '../../../../test/support/server-frame.ts';
import type { ConnectionStatus } from '../../src/connections/get-connection.ts';
import type { Frame } from '../../src/frames/frame.ts';
import type { PostAttempts, Poster, PostOutcome } from '../../src/posts/poster.ts';

export interface ReceivedPacket {
  readonly cmd: string;
  readonly qos: number;
  readonly dup: boolean;
  readonly retain: boolean;
  readonly messageId: number | undefined;
  readonly text: string;
  readonly subscriptionIdentifier?: number | number[] | undefined;
  readonly sessionPresent?: boolean;
  readonly reasonCode?: number | undefined;
  /** Of a SUBACK or UNSUBACK. */
  readonly granted?: readonly number[] | undefined;
}

export interface Attempt {
  readonly connectionId: string;
  readonly packets: readonly ReceivedPacket[];
  /** The process that posted. */
  readonly by: string;
}

/** The gateway's @connections API, and all that its clients were sent. */
export class FakeGateway {
  /** Decides the outcome of an attempt. */
  answer: (attempt: Attempt) => PostOutcome | Promise<PostOutcome> = () => 'sent';
  /** The answer of GetConnection. */
  status: (connectionId: string) => ConnectionStatus = () => 'unknown';
  /** Whether DeleteConnection is answered. */
  closes: (connectionId: string) => boolean | Promise<boolean> = () => true;
  readonly attempts: Attempt[] = [];
  readonly posts: Attempt[] = [];
  readonly deleted: string[] = [];

  posterOf(by: string): Poster & PostAttempts {
    const attempt = async (connectionId: string, frame: Frame | string): Promise<PostOutcome> => {
      const packets = decodePackets(Buffer.from(typeof frame === 'string' ? frame : frame.text, 'base64'));
      const post = { connectionId, packets, by };
      this.attempts.push(post);
      const outcome = await this.answer(post);
      if (outcome === 'sent') this.posts.push(post);
      return outcome;
    };
    return {
      attempt,
      post: attempt,
      delete: async (connectionId) => this.deleted.push(connectionId) > 0 && this.closes(connectionId),
      get: async (connectionId) => this.status(connectionId),
    };
  }

  /** The packets that a client has received, in their order. */
  packetsTo(connectionId: string): ReceivedPacket[] {
    return this.posts.filter((post) => post.connectionId === connectionId).flatMap(({ packets }) => packets);
  }

  textsTo(connectionId: string): string[] {
    return this.packetsTo(connectionId).map(({ text }) => text);
  }
}

export function decodePackets(bytes: Buffer): ReceivedPacket[] {
  const packets: ReceivedPacket[] = [];
  const parser = createParser({ protocolVersion: 5 } as never);
  parser.on('packet', (packet) => packets.push(receivedOf(packet)));
  for (let offset = 0; offset < bytes.length; ) {
    const length = packetLength(bytes.subarray(offset));
    if (length === 0) throw new Error('a post ends within a packet');
    parser.parse(bytes.subarray(offset, offset + length));
    offset += length;
  }
  return packets;
}

function receivedOf(packet: Packet): ReceivedPacket {
  const { cmd, messageId } = packet;
  if (packet.cmd !== 'publish') {
    const sessionPresent = packet.cmd === 'connack' && packet.sessionPresent;
    const reasonCode = 'reasonCode' in packet ? packet.reasonCode : undefined;
    const granted = 'granted' in packet ? (packet.granted as number[]) : undefined;
    return {
      cmd,
      qos: 0,
      dup: false,
      retain: false,
      messageId,
      text: '',
      sessionPresent,
      reasonCode,
      granted,
    };
  }
  const { qos, dup, retain, payload, properties } = packet;
  const { subscriptionIdentifier } = properties ?? {};
  return { cmd, qos, dup, retain, messageId, text: String(payload), subscriptionIdentifier };
}

export function readReply(text: string): Buffer {
  const frame = readServerFrame(text);
  if (frame.kind !== 'reply') throw new Error(`expected a reply, got: ${text}`);
  return frame.bytes;
}
