import type { ConnackProperties } from '@apus/mqtt';
import type { ShareRotation } from './deliver/share.ts';
import type { BrokerLimits, BrokerOptions } from './model/limits.ts';
import type { EventClock } from './model/message-clock.ts';
import type { Ports } from './ports/index.ts';

/** The arguments that every use case gets. */
export interface Context {
  readonly ports: Ports;
  readonly options: BrokerOptions;
  readonly limits: BrokerLimits;
  readonly messageClock: EventClock;
  readonly shareRotation: ShareRotation;
  readonly connackProperties: Readonly<ConnackProperties>;
}
