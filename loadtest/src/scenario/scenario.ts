/** A load test: groups of clients, with their subscriptions and publishes. Both generators run it. */
export interface Scenario {
  /** The name on the command line. */
  readonly name: string;
  /** One sentence. */
  readonly title: string;
  /** The publisher of the scenario, with the parameters. */
  readonly source: string;
  /** Runs at full size by default; the others run at the size that the machine allows. */
  readonly basic: boolean;
  /** The default generator. */
  readonly generator: GeneratorName;
  readonly mqttVersion: MqttVersion;
  readonly keepAliveSeconds: number;
  readonly cleanStart: boolean;
  /** The Session Expiry Interval; 0 ends sessions with their connection. */
  readonly sessionExpirySeconds: number;
  /** New connections a second, all groups together, one group after the other. */
  readonly connectsPerSecond: number;
  /**
   * For a closed loop, to find how many handshakes a broker bears: each process of the generator has this many under
   * way, and begins the next one when one is done. Undefined: `connectsPerSecond` alone sets the pace.
   */
  readonly connectWindow: number | undefined;
  /** How long messages are published, or, without messages, connections are held. */
  readonly durationSeconds: number;
  /** The default for a quick run. */
  readonly shortSeconds: number;
  readonly groups: readonly Group[];
  /** The goals with which the report compares. */
  readonly goals: Goals;
  /** Figures that others have published for it, in a sentence. */
  readonly published: string | undefined;
  /** The machines that a run at full size needs, in a sentence. */
  readonly fullSize: string;
}

export type GeneratorName = 'artillery' | 'fast';
export type MqttVersion = '3.1.1' | '5';
export type Qos = 0 | 1 | 2;

export interface Group {
  readonly name: string;
  readonly clients: number;
  /** Whether a smaller size has fewer of them. */
  readonly scales: boolean;
  readonly subscribe: Subscribe | undefined;
  readonly publish: Publish | undefined;
}

/** Filters and topics may contain `{client}`, `{client%N}`, `{stream}` and `{random GROUP}`. */
export interface Subscribe {
  readonly filters: readonly string[];
  readonly qos: Qos;
}

export interface Publish {
  readonly topic: string;
  /** Topics of each client; `{stream}` numbers the topics of all clients. */
  readonly topics: number;
  readonly qos: Qos;
  /** At least 16: the header. */
  readonly payloadBytes: number;
  /** Messages a second of each client on each of its topics; 1 where there is a window, and then without effect. */
  readonly perSecond: number;
  /**
   * For a closed loop, to find the capacity of a broker: each client keeps this many messages in flight, and sends the
   * next one when it has received one of its own. Undefined: `perSecond` sets the pace.
   */
  readonly window: number | undefined;
}

/** In milliseconds; `lost`: messages that may be missing. */
export interface Goals {
  readonly p95Ms?: number;
  readonly p99Ms?: number;
  readonly lost?: number;
}
