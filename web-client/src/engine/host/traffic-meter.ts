import type { GatewayTraffic, Traffic } from '../types.ts';
import { Rate } from './rate.ts';

/** Counts the traffic of a connection, over all its sockets. */
export class TrafficMeter {
  messagesIn = 0;
  messagesOut = 0;
  bytesIn = 0;
  bytesOut = 0;
  /** Dropped messages that the broker has reported. */
  dropped = 0;
  readonly #messagesIn = new Rate();
  readonly #messagesOut = new Rate();
  readonly #bytesIn = new Rate();
  readonly #bytesOut = new Rate();

  sample(atMs: number, skipped: number, gateway: GatewayTraffic | undefined): Traffic {
    return {
      messagesIn: this.messagesIn,
      messagesOut: this.messagesOut,
      bytesIn: this.bytesIn,
      bytesOut: this.bytesOut,
      messagesInPerSecond: this.#messagesIn.sample(this.messagesIn, atMs),
      messagesOutPerSecond: this.#messagesOut.sample(this.messagesOut, atMs),
      bytesInPerSecond: this.#bytesIn.sample(this.bytesIn, atMs),
      bytesOutPerSecond: this.#bytesOut.sample(this.bytesOut, atMs),
      skipped,
      dropped: this.dropped,
      gateway: gateway && { ...gateway },
    };
  }
}
