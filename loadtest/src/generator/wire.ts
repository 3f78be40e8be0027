import type { SecureContext } from 'node:tls';
import type { FrameCounts } from '../measure/index.ts';

/** The door of a client: MQTT's bytes in binary frames, over TCP or TLS, or the text frames of API Gateway. */
export type Door = 'node' | 'gateway';

/** The events of a connection. */
export interface WireEvents {
  open(): void;
  bytes(data: Buffer): void;
  /** The connection has ended, or could not be opened: the reason, in a sentence. */
  closed(reason: string): void;
}

/** A connection that carries MQTT bytes. */
export interface Wire {
  send(bytes: Buffer): void;
  /** Closes when all sent bytes have left. */
  close(): void;
}

export interface WireOptions {
  readonly url: string;
  /** The address of this machine from which it connects. @default the system chooses */
  readonly localAddress?: string | undefined;
  /** For `tls://`: the authorities that the client trusts. @default those of Node.js */
  readonly secureContext?: SecureContext | undefined;
  /** Created once per process and shared by its clients: the totals of their frames. */
  readonly frames: FrameTotals;
  /** Added to a gateway's URL as `token`. */
  readonly token?: string | undefined;
}

/** The frames of all clients of a process. */
export class FrameTotals {
  readonly #clients: (() => FrameCounts)[] = [];

  add(counts: () => FrameCounts): void {
    this.#clients.push(counts);
  }

  sum(): FrameCounts {
    const total = { framesSent: 0, framesReceived: 0, bytesSent: 0, bytesReceived: 0, messagesBilled: 0 };
    for (const counts of this.#clients) {
      const each = counts();
      for (const name of Object.keys(total) as (keyof FrameCounts)[]) total[name] += each[name];
    }
    return total;
  }
}
