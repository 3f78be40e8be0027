import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ConfigurationError, parseIdentity } from '@apus/identity';
import { readConfiguration, type WorkerTexts } from '../src/worker/configuration.ts';

/** Flags of both commands. */
export const WORKER_FLAGS = {
  identity: { type: 'string' },
  configuration: { type: 'string' },
  help: { type: 'boolean' },
} as const;

export const WORKER_HELP = `  --identity FILE       The clients that may connect: docs/identity.md. Files that it names go along.
  --configuration FILE  Options of the broker and of the Worker, in JSON: packages/cloudflare/README.md.`;

/** A mistake of the user, told in a sentence. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

/** @throws {SettingsError} */
export function flagsIn<T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, strict: true }).values;
  } catch (error) {
    throw new SettingsError((error as Error).message);
  }
}

interface Given {
  readonly identity?: string | undefined;
  readonly configuration?: string | undefined;
}

/**
 * The texts of the Worker's environment.
 *
 * @param secretFile of the tokens of clients, where there is no file of identities. Undefined: every client may connect
 * @param defaults of the configuration
 * @throws {SettingsError}
 */
export function textsFrom(
  { identity, configuration }: Given,
  secretFile: string | undefined,
  apiKey: string,
  defaults: object = {},
): WorkerTexts {
  const ofFile = configuration === undefined ? {} : objectIn(configuration);
  const own = secretFile === undefined ? undefined : { authenticators: [{ jwt: { secretFile } }] };
  const asked = identity === undefined ? own && JSON.stringify(own) : textOf(identity);
  try {
    const texts = {
      CONFIGURATION: JSON.stringify({ ...defaults, ...ofFile }),
      API_KEY: apiKey,
      ...(asked !== undefined && { IDENTITY: asked, FILES: JSON.stringify(filesIn(asked)) }),
    };
    readConfiguration(texts);
    return texts;
  } catch (error) {
    throw error instanceof ConfigurationError ? new SettingsError(error.message) : error;
  }
}

function objectIn(path: string): object {
  const text = textOf(path);
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new SettingsError(`${path} is no JSON.`);
  }
}

/** The text of each file that a configuration of identities names: an object has no files. */
function filesIn(identity: string): Readonly<Record<string, string>> {
  const { given } = parseIdentity(identity, '--identity');
  const files: Record<string, string> = {};
  JSON.stringify(given, (key, value: unknown) => {
    if (/file$/i.test(key) && typeof value === 'string') files[value] = textOf(value);
    return value;
  });
  return files;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SettingsError(`A file cannot be read: ${(error as Error).message}`);
  }
}
