import type { Listener } from '../wires.ts';

/** A broker that the benchmark can install, start and stop. */
export interface BrokerKind {
  /** The name on the command line. */
  readonly name: string;
  readonly title: string;
  /** Its programming language. */
  readonly language: string;
  /** Whether it supports `$share` for MQTT 3.1.1 clients. */
  readonly hasSharedSubscriptions: boolean;
  /**
   * Installs it if it is missing.
   *
   * @throws {CannotInstall} if that is not possible here
   */
  prepare(place: Place): Promise<PreparedBroker>;
}

/** The folder for a broker's installation, and the receiver of progress messages. */
export interface Place {
  /** The broker's own folder, which git ignores. It exists. */
  readonly folder: string;
  /** The broker's program, if the command line names one: then nothing is installed. */
  readonly program: string | undefined;
  /** The repository. */
  readonly root: string;
  readonly say: (line: string) => void;
  readonly stop: AbortSignal;
}

export interface PreparedBroker {
  readonly version: string;
  /**
   * A note for readers of this version's figures.
   * @default none
   */
  readonly remark?: string;
  /**
   * The command that starts it with one listener on 127.0.0.1, without authentication and storage on disk.
   */
  launch(listener: Listener): Launch;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A broker that cannot be installed on this machine; the message gives the reason in a sentence. */
export class CannotInstall extends Error {
  override readonly name = 'CannotInstall';
}
