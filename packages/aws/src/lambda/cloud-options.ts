import type {
  Authenticator,
  Authorizer,
  Clock,
  Log,
  PayloadCheck,
  QuotaScopes,
  Timers,
  UsageCounter,
} from '@apus/broker';
import type { Tracer } from '@apus/door';
import type { TokenCheck } from '@apus/identity';
import type { DynamoOptions } from '@apus/store-dynamodb';
import type { FanOutQueue } from '../fan-out/gathered-jobs.ts';
import type { HandlerSettings } from '../function-options.ts';
import type { HandshakeCheck } from '../handshake/handshake-check.ts';
import type { Meter } from '../metrics/meter.ts';
import type { Poster } from '../posts/poster.ts';
import type { RuleQueue } from '../rules/rule-outlet.ts';
import type { SqsTimers } from '../timers/sqs-timers.ts';
import type { PresenceSettings, StreamsOptions } from './settings.ts';

/** The options that the functions of a deployment share. A test passes the emulators' clients, clock and randomness. */
export interface CloudOptions extends HandlerSettings {
  readonly dynamo: DynamoOptions['client'];
  readonly tableName: string;
  /** The table of connections, sessions and numbers, which the sweep scans. @default `tableName` */
  readonly sessionsTableName?: string;
  readonly fanOut: FanOutQueue;
  readonly timers: Timers;
  /** Where connections that hold a will have a timer that looks after them. @default they wait for the sweep */
  readonly livenessTimers?: SqsTimers;
  readonly poster: Poster;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  readonly randomId: () => string;
  readonly log: Log;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** Authenticates a handshake. Absent: every handshake is accepted. */
  readonly handshakes?: HandshakeCheck | undefined;
  /** Checks the tokens that AUTH brings. Absent: there is no AUTH. */
  readonly tokens?: TokenCheck | undefined;
  /** The gateway cuts a connection at this age. @default two hours */
  readonly connectionSeconds?: number;
  /** Quotas of one identity, one tenant, and all together. @default any amount */
  readonly quotas?: QuotaScopes | undefined;
  /** @default no metrics */
  readonly meter?: Meter;
  /** @default 'one' */
  readonly overlapping?: 'one' | 'each';
  /** Counts what each tenant uses. @default false */
  readonly usage?: boolean | undefined;
  /** @default none */
  readonly streams?: StreamsOptions | undefined;
  /** Counts the traffic of tenants for metrics. @default it is not counted */
  readonly tenantMeter?: UsageCounter | undefined;
  /** Records the way of messages whose publishers ask for it. @default no traces */
  readonly tracer?: Tracer | undefined;
  /** @default the deployment keeps no presence */
  readonly presence?: PresenceSettings | undefined;
  /** Compares payloads with the schemas of their topics. @default every payload is taken */
  readonly payloads?: PayloadCheck | undefined;
  /** @default there are none */
  readonly rules?: RuleQueue | undefined;
  readonly stores?: Partial<DynamoOptions>;
}
