export type ProgramName =
  | 'bash'
  | 'browser'
  | 'caddy'
  | 'engine'
  | 'haproxy'
  | 'kafka'
  | 'mosquitto'
  | 'nginx'
  | 'openssl'
  | 'python';

export interface Program {
  /** As the last lines of a run name it. */
  readonly title: string;
  /** All of these have to be installed, each under one of its names. */
  readonly commands: readonly (readonly string[])[];
  /** A command that succeeds where the program is complete. */
  readonly probe?: readonly string[];
  /** Debian's packages. */
  readonly apt: readonly string[];
  /** Homebrew's packages. */
  readonly brew: readonly string[];
}

export const PROGRAMS: Readonly<Record<ProgramName, Program>>;

/** The command that installs programs; undefined where the package manager of the system is not known. */
export function installCommand(
  names: readonly ProgramName[],
  platform?: NodeJS.Platform,
): readonly string[] | undefined;
