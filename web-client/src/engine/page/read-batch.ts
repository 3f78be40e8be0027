import type { FrameFields } from '../log/frame-log.ts';
import type { MessageFields } from '../log/message.ts';
import type { PacketFields } from '../log/packet-log.ts';
import {
  type Batch,
  MESSAGE_COLUMNS,
  MessageColumn,
  NoFrame,
  PACKET_COLUMNS,
  PacketColumn,
} from '../protocol.ts';
import type { FrameOfPacket, MessageProperties, Qos } from '../types.ts';
import { PacketSplitter } from '../wire/packet-splitter.ts';

/** Topics that are stored as one string each; above it the table begins anew. */
const TOPICS_MAX = 200_000;

const NO_PROPERTIES: MessageProperties = {};
const topics = new Map<string, string>();

/** Each topic as one string: fifty thousand messages of a hundred topics share a hundred strings. */
function interned(topic: string): string {
  const known = topics.get(topic);
  if (known !== undefined) return known;
  if (topics.size >= TOPICS_MAX) topics.clear();
  topics.set(topic, topic);
  return topic;
}

export function readPackets({ bytes, packets }: Batch): PacketFields[] {
  const chunk = new Uint8Array(bytes);
  const read: PacketFields[] = [];
  for (let row = 0; row < packets.length; row += PACKET_COLUMNS) {
    const offset = packets[row + PacketColumn.Offset] ?? 0;
    const length = packets[row + PacketColumn.Length] ?? 0;
    read.push({
      id: packets[row + PacketColumn.Id] ?? 0,
      direction: packets[row + PacketColumn.IsOut] === 1 ? 'out' : 'in',
      atMs: packets[row + PacketColumn.AtMs] ?? 0,
      bytes: chunk.subarray(offset, offset + length),
    });
  }
  return read;
}

export function readFrames({ bytes, frames }: Batch): FrameFields[] {
  return frames.map(({ isOut, offset, length, ...row }) => ({
    ...row,
    direction: isOut ? 'out' : 'in',
    byteLength: length,
    packets: new PacketSplitter().push(new Uint8Array(bytes, offset, length)),
  }));
}

/** Calls back for each packet whose frame the batch contains. */
export function readLinks({ links }: Batch, link: (packetId: number, frame: FrameOfPacket) => void): void {
  for (let index = 0; index + 1 < links.length; index += 2) {
    const frame = links[index + 1] ?? 0;
    const isNone = frame === NoFrame.Kept ? 'kept' : frame === NoFrame.Unsent ? 'unsent' : undefined;
    link(links[index] ?? 0, isNone ?? frame);
  }
}

export function readMessages(connectionId: string, batch: Batch): MessageFields[] {
  const { messages } = batch;
  const chunk = new Uint8Array(batch.bytes);
  const names = batch.topics.map(interned);
  const read: MessageFields[] = [];
  for (let row = 0, index = 0; row < messages.length; row += MESSAGE_COLUMNS, index += 1) {
    const at = (column: number): number => messages[row + column] ?? 0;
    const flags = at(MessageColumn.Flags);
    const packetId = at(MessageColumn.PacketId);
    const latencyMs = at(MessageColumn.LatencyMs);
    read.push({
      connectionId,
      direction: (flags & 1) === 1 ? 'published' : 'received',
      atMs: at(MessageColumn.AtMs),
      topic: names[at(MessageColumn.Topic)] ?? '',
      qos: ((flags >> 1) & 3) as Qos,
      retain: (flags & 8) !== 0,
      dup: (flags & 16) !== 0,
      packetId: packetId === 0 ? undefined : packetId,
      properties: batch.properties[index] ?? NO_PROPERTIES,
      subscriptionIds: batch.subscriptionIds[index] ?? [],
      chunk,
      packetOffset: at(MessageColumn.Offset),
      packetLength: at(MessageColumn.Length),
      payloadOffset: at(MessageColumn.PayloadOffset),
      latencyMs: Number.isNaN(latencyMs) ? undefined : latencyMs,
      missingBefore: at(MessageColumn.MissingBefore),
    });
  }
  return read;
}
