import type { BrokerLimits, BrokerOptions } from './limits.ts';
import type { MessageClock } from './message-clock.ts';
import type { Ports } from './ports/index.ts';
import type { ShareRotation } from './share.ts';

/** The arguments that every use case gets. */
export interface Context {
  readonly ports: Ports;
  readonly options: BrokerOptions;
  readonly limits: BrokerLimits;
  readonly messageClock: MessageClock;
  readonly shareRotation: ShareRotation;
}
