/** A load test: groups of clients, with their subscriptions and publishes. Both generators run it. */
export interface Scenario {
  /** As it is called on the command line. */
  readonly name: string;
  /** One sentence. */
  readonly title: string;
  /** Its publisher, with the parameters. */
  readonly source: string;
  /** Run at full size unless told otherwise; the others at what the machine allows. */
  readonly basic: boolean;
  /** The generator that runs it unless told otherwise. */
  readonly generator: GeneratorName;
  readonly mqttVersion: MqttVersion;
  readonly keepAliveSeconds: number;
  readonly cleanStart: boolean;
  /** Of sessions; 0 ends them with their connection. */
  readonly sessionExpirySeconds: number;
  /** New connections a second, all groups together, one group after the other. */
  readonly connectsPerSecond: number;
  /** How long messages are published, or, where there are none, connections are held. */
  readonly durationSeconds: number;
  /** The same when nothing is said: long enough to see that it works. */
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
  /** Topics of each client; `{stream}` numbers those of all clients. */
  readonly topics: number;
  readonly qos: Qos;
  /** At least 16: the header. */
  readonly payloadBytes: number;
  /** Messages a second of each client on each of its topics; 1 where there is a window, and then without effect. */
  readonly perSecond: number;
  /**
   * Closed loop, to find the capacity of a broker: each client keeps this many messages under way, and sends the next
   * when one has come back to itself. Undefined: `perSecond` sets the pace.
   */
  readonly window: number | undefined;
}

/** In milliseconds; `lost`: messages that may be missing. */
export interface Goals {
  readonly p95Ms?: number;
  readonly p99Ms?: number;
  readonly lost?: number;
}
