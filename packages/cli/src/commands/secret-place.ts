import { readFileSync } from 'node:fs';
import { replaceFile } from '@apus/identity';
import { awsSentenceOf } from '../aws/errors.ts';
import { readSecret, writeSecret } from '../aws/secret.ts';
import { stackOutput } from '../operate/stack-output.ts';
import { CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { readPassword } from './read-password.ts';

/** The stack's output with the name of the secret that signs tokens. */
const OUTPUT = 'TokenSecretArn';

export const SECRET_FLAGS: Flags = {
  'secret-file': {
    value: 'FILE',
    help: 'The file with the secret: `secretFile` in the configuration of `apus serve --identity`.',
  },
  stack: { value: 'NAME', help: 'The secret of a deployment, by the name of its stack.' },
  'secret-id': {
    value: 'ID',
    help: 'A secret of AWS Secrets Manager, by name or ARN. Without any of these flags the command asks for the secret, or reads it from standard input.',
  },
  region: { value: 'REGION', help: 'Where the deployment is.', default: 'that of your AWS profile' },
};

/** Where the secret that signs tokens is kept. */
export interface SecretPlace {
  /** A description for sentences. */
  readonly what: string;
  read(): Promise<string>;
  /** Absent if the user has typed the secret in. */
  readonly write?: (text: string) => Promise<void>;
}

/** @throws {UsageError} */
export function secretPlaceFrom(values: Values): SecretPlace {
  const [path, stack, id] = [values.text('secret-file'), values.text('stack'), values.text('secret-id')];
  if ([path, stack, id].filter((each) => each !== undefined).length > 1)
    throw new UsageError('--secret-file, --stack and --secret-id exclude each other.');
  const region = values.text('region');
  if (path !== undefined) return filePlace(path);
  if (stack !== undefined)
    return awsPlace(`of the stack "${stack}"`, region, () => stackOutput(stack, OUTPUT, region));
  if (id !== undefined) return awsPlace(id, region, async () => id);
  return { what: 'The secret', read: () => readPassword('Secret: ') };
}

function filePlace(path: string): SecretPlace {
  const explained = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw new CommandError(`The file with the secret: ${(error as Error).message}`, { cause: error });
    }
  };
  return {
    what: `The secret in ${path}`,
    read: async () => explained(() => readFileSync(path, 'utf8')),
    write: async (text) => explained(() => replaceFile(path, () => `${text}\n`)),
  };
}

function awsPlace(name: string, region: string | undefined, findId: () => Promise<string>): SecretPlace {
  const what = `The secret ${name}`;
  let id: Promise<string> | undefined;
  const explained = async <T>(work: (id: string) => Promise<T>): Promise<T> => {
    id ??= findId();
    const found = await id;
    try {
      return await work(found);
    } catch (error) {
      const denied =
        'Your credentials may not do that: secretsmanager:GetSecretValue, and secretsmanager:PutSecretValue to rotate.';
      const sentence = awsSentenceOf(error, { service: 'Secrets Manager', region, denied });
      throw new CommandError(`${what} cannot be used: ${sentence}`, { cause: error });
    }
  };
  return {
    what,
    read: () => explained((found) => readSecret(found, region)),
    write: (text) => explained((found) => writeSecret(found, text, region)),
  };
}
