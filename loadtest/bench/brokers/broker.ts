/** A broker that the benchmark can install, start and stop. */
export interface BrokerKind {
  /** As on the command line. */
  readonly name: string;
  readonly title: string;
  /** Its programming language. */
  readonly language: string;
  /** Whether it knows `$share` of MQTT 3.1.1 clients. */
  readonly hasSharedSubscriptions: boolean;
  /**
   * Installs it where it is not yet.
   *
   * @throws {CannotInstall} when that is not possible here
   */
  prepare(place: Place): Promise<PreparedBroker>;
}

/** Where a broker is installed, and who hears of it. */
export interface Place {
  /** The broker's own folder, which git ignores. It exists. */
  readonly folder: string;
  /** The broker's program, where the command line names one: it is taken instead of what would be installed. */
  readonly program: string | undefined;
  /** The repository. */
  readonly root: string;
  readonly say: (line: string) => void;
  readonly stop: AbortSignal;
}

export interface PreparedBroker {
  readonly version: string;
  /** A sentence that readers of this version's figures need. @default none */
  readonly remark?: string;
  /** How to start it with one WebSocket listener on 127.0.0.1, without authentication, nothing kept on disk. */
  launch(port: number): Launch;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Of the WebSocket URL. */
  readonly path: string;
}

/** A broker that cannot be had on this machine; the message says why in a sentence. */
export class CannotInstall extends Error {
  override readonly name = 'CannotInstall';
}
