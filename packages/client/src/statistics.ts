import { BILLED_CHARACTERS } from './limits.ts';

/** The counts of a transport since it was made, over all its connections. */
export interface Statistics {
  /** Sockets opened. */
  connections: number;
  /** WebSocket frames that left. */
  framesSent: number;
  /** WebSocket frames that came. */
  framesReceived: number;
  /** Bytes of WebSocket text that left. */
  bytesSent: number;
  /** Bytes of WebSocket text that came. */
  bytesReceived: number;
  /** MQTT packets that left in frames, the transport's own PINGREQ included. */
  packetsSent: number;
  /** MQTT packets that came in frames. */
  packetsReceived: number;
  /** PINGREQs of the library that the transport answered itself. */
  pingsAnswered: number;
  /** PUBACKs that the transport dropped, since an ephemeral session does not need them. */
  pubacksDropped: number;
  /** The messages that API Gateway bills: frames in both directions, each counted once for every 32 KB begun. */
  messagesBilled: number;
}

export function newStatistics(): Statistics {
  return {
    connections: 0,
    framesSent: 0,
    framesReceived: 0,
    bytesSent: 0,
    bytesReceived: 0,
    packetsSent: 0,
    packetsReceived: 0,
    pingsAnswered: 0,
    pubacksDropped: 0,
    messagesBilled: 0,
  };
}

/** Every character of a frame is one byte. */
export function countSent(statistics: Statistics, text: string, packets: number): void {
  statistics.framesSent += 1;
  statistics.bytesSent += text.length;
  statistics.packetsSent += packets;
  statistics.messagesBilled += billedMessages(text.length);
}

export function countReceived(statistics: Statistics, text: string): void {
  statistics.framesReceived += 1;
  statistics.bytesReceived += text.length;
  statistics.messagesBilled += billedMessages(text.length);
}

/**
 * Messages that API Gateway bills for a frame of this many characters: one for each 32 KB begun. An empty frame counts
 * as one.
 */
export function billedMessages(characters: number): number {
  return Math.max(1, Math.ceil(characters / BILLED_CHARACTERS));
}
