import type { Broker, Connections, LinkStore, Log } from '@apus/broker';
import type { GatewayConnections } from './gateway-connections.ts';
import type { Postbag } from './postbag.ts';
import type { Poster } from './poster.ts';

/** What the handlers of one execution environment work with. It handles one event at a time. */
export interface Environment {
  readonly broker: Broker;
  readonly links: LinkStore;
  readonly connections: GatewayConnections;
  readonly postbag: Postbag;
  readonly poster: Poster;
  readonly log: Log;
  /** The largest packet that is taken from a client, in bytes. */
  readonly maximumPacketSize: number;
}

/** What makes a broker for the connections of one environment. */
export type MakeBroker = (connections: Connections) => Broker;
