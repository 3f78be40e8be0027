import type { Broker, BrokerOptions, Connections, Log, Ports, ProcessState } from '@apus/broker';
import type { AllowedOrigins, FrameQuota, Scheduler } from '@apus/door';
import type { Handshakes } from '@apus/identity';
import type { HandshakeRefusal } from './handshake.ts';
import type { NodeLimits } from './limits.ts';
import type { PeerAddresses, Sourced } from './peer-address.ts';

/** The ports of a broker without its connections. */
export type SharedPorts = Omit<Ports, 'connections'>;

/** The part of the node that the gateway door uses. */
export interface GatewayContext {
  readonly host: string;
  readonly ports: SharedPorts;
  /** The broker options of the node door. */
  readonly broker: BrokerOptions;
  readonly allowedOrigins: AllowedOrigins;
  /** Checks tokens. Absent: no token is checked. */
  readonly handshakes: Handshakes | undefined;
  /** The IP address from which a handshake comes, or why it is refused. */
  readonly sourceOf: (request: Sourced) => string | HandshakeRefusal;
  readonly limits: NodeLimits;
  /** Tells the address of a client, also behind a proxy. */
  readonly addresses: PeerAddresses;
  /** Charges its clients to the accounts of the node door. */
  readonly frameQuota: FrameQuota;
  readonly clock: Scheduler;
  readonly log: Log;
  /** A broker that reaches the clients of both doors, those of the gateway door through `gateway`. */
  makeBroker(gateway: Connections, options: BrokerOptions, state: ProcessState): Broker;
}

/** A gateway door of the same broker, over the same stores. */
export interface GatewayDoor {
  /** `ws://127.0.0.1:8084/mqtt`, for clients with the Apus transport. */
  readonly url: string;
  /** The gateway's connections, for the broker of the node door. */
  readonly connections: Connections;
  readonly maximumPacketSizeBytes: number;
  /** Its counts since it started, for `/counters`. */
  counters(): object;
  stop(): Promise<void>;
}

/** Opens a gateway door: `apus serve` brings the one over the emulator of API Gateway. */
export type OpenGateway = (context: GatewayContext) => Promise<GatewayDoor>;
