import type { Awaitable, Identity } from '@apus/broker';

export type QuotaScope = 'identity' | 'tenant' | 'broker';

/** The parts of a frame for which its sender is charged. */
export interface FrameContents {
  readonly frames: number;
  /** MQTT packets. */
  readonly packets: number;
  readonly publishes: number;
  readonly bytes: number;
}

/** Limits what clients send, before it is handled. */
export interface FrameQuota {
  /** @returns the quota that is used up: the connection has to be closed. Undefined: the frame is paid for */
  take(sender: Identity, clientId: string, contents: FrameContents): Awaitable<QuotaScope | undefined>;
  /** Whether, as far as is known here, a connection would be closed with its first frame. */
  isOverdrawn(sender: Identity, clientId: string): boolean;
}
