import type { PortalServer } from '../document/portal-document.ts';
import { shellWord } from './literals.ts';

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
  /** The folder of the tarballs of Apus's packages, which are in no registry: beside the page. */
  readonly packagesUrl: string;
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

/** A token names its client; any user name is accepted. */
export const USER_NAME = 'token';

/** The tarballs of this release, which the build puts beside the page: npm installs them from their addresses. */
export function tarballsOf(names: readonly string[], { packagesUrl }: Pick<Wanted, 'packagesUrl'>): string {
  return names.map((name) => shellWord(new URL(`apus-${name}-0.1.0.tgz`, packagesUrl).href)).join(' ');
}
