import type { PortalServer } from '../document/portal-document.ts';

export const LANGUAGES = ['javascript', 'react', 'python', 'shell'] as const;

export type Language = (typeof LANGUAGES)[number];

/** The program that a snippet is. */
export interface Wanted {
  readonly server: PortalServer;
  /** The topic filter of a program that receives. */
  readonly filter: string;
  /** The user property of its SUBSCRIBE with the beginning in the stream. Undefined: it begins now. */
  readonly rewind: string | undefined;
  /** The topic of a program that publishes. */
  readonly topic: string;
  /** Undefined: the program sends a file. */
  readonly payload: string | undefined;
  readonly contentType: string;
}

export interface Snippet {
  /** How to get what the code needs. */
  readonly install: string;
  /** The name of the file to paste it into. Undefined: it is pasted into a terminal. */
  readonly file: string | undefined;
  readonly code: string;
}

export interface Snippets {
  readonly receive: Snippet;
  readonly publish: Snippet;
}

/** The file that a program sends if the payload is no text. */
export const PAYLOAD_FILE = 'payload.bin';

/** Variable of the environment that holds the token: no snippet has a secret in it. */
export const TOKEN_VARIABLE = 'APUS_PASSWORD';

/** The same for the command line at a gateway door, where the token is no password. */
const HANDSHAKE_TOKEN_VARIABLE = 'APUS_TOKEN';

export function tokenVariableOf(language: Language, { door }: Pick<PortalServer, 'door'>): string {
  return language === 'shell' && door === 'gateway' ? HANDSHAKE_TOKEN_VARIABLE : TOKEN_VARIABLE;
}

/** A token names its client; any user name is accepted. */
export const USER_NAME = 'token';

/** Packages of Apus are not in npm's registry, where others might take their names. */
export const APUS_PACKAGES = (names: readonly string[]): string =>
  names.map((name) => `npm pack -w @apus/${name} --pack-destination YOUR-APP`).join('\n');

export const TARBALLS = (names: readonly string[]): string =>
  names.map((name) => `./apus-${name}-0.1.0.tgz`).join(' ');
