import {
  type AuthenticationMethod,
  type AuthenticationStep,
  type Authenticator,
  type Authorizer,
  type Log,
  rulesAuthorizer,
} from '@apus/broker';
import type { HubOptions } from '../../src/index.ts';

/** Ports that the process of the test answers, since they are functions. */
export interface RemotePorts {
  /** Under which the process of the test knows them. */
  readonly door: string;
  readonly authenticator: boolean;
  /** `rules`: the broker's own, that asks the rules of each identity. */
  readonly authorizer: 'remote' | 'rules' | 'none';
  /** Names of methods of authentication. */
  readonly methods: readonly string[];
  /** It reads the log, from this level on. */
  readonly logLevel: 'debug' | 'error' | undefined;
}

/** One line of the log, as a node writes it. */
interface LogEntry {
  readonly level: string;
  readonly timeMs: number;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

type Ask = (request: Request) => Promise<Response>;

export function withRemote(remote: RemotePorts, ask: Ask): HubOptions {
  const { door, authenticator, authorizer, methods, logLevel } = remote;
  const call = async (port: string, values: readonly unknown[]): Promise<unknown> => {
    const body = JSON.stringify(values, asText);
    const answer = await ask(new Request(`http://test/${door}/${port}`, { method: 'POST', body }));
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(text);
    return fromText(text);
  };
  const authenticators: Authenticator = {
    authenticate: (...values) => call('authenticate', values) as ReturnType<Authenticator['authenticate']>,
  };
  const authorizers: Authorizer = {
    mayPublish: (...values) => call('mayPublish', values) as Promise<boolean>,
    maySubscribe: (...values) => call('maySubscribe', values) as Promise<boolean>,
  };
  return {
    ...(authenticator && { authenticator: authenticators }),
    ...(authorizer === 'rules' && { authorizer: rulesAuthorizer }),
    ...(authorizer === 'remote' && { authorizer: authorizers }),
    ...(logLevel !== undefined && { log: logTo(call, logLevel) }),
    authenticationMethods: methods.map(
      (name): AuthenticationMethod => ({
        name,
        begin: (...values) => call(`begin/${name}`, values) as Promise<AuthenticationStep>,
        continue: (...values) => call(`continue/${name}`, values) as Promise<AuthenticationStep>,
      }),
    ),
  };
}

function logTo(
  call: (port: string, values: readonly LogEntry[]) => Promise<unknown>,
  least: 'debug' | 'error',
): Log {
  const write =
    (level: string) =>
    (event: string, fields: LogEntry['fields'] = {}) =>
      void call('log', [{ level, timeMs: Date.now(), event, fields }]).catch(() => {});
  const [debug, info, warn] = least === 'debug' ? [write('debug'), write('info'), write('warn')] : [];
  const nothing = () => {};
  return { debug: debug ?? nothing, info: info ?? nothing, warn: warn ?? nothing, error: write('error') };
}

/** For `JSON.stringify`: bytes become text, and what is not there is told from null. */
export function asText(_key: string, value: unknown): unknown {
  if (value === undefined) return { $undefined: true };
  const bytes = bytesOf(value);
  return bytes === undefined ? value : { $bytes: Buffer.from(bytes).toString('base64') };
}

export function fromText(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown) => {
    if (value !== null && typeof value === 'object' && '$undefined' in value) return undefined;
    const coded = value !== null && typeof value === 'object' && '$bytes' in value ? value.$bytes : undefined;
    return typeof coded === 'string' ? Buffer.from(coded, 'base64') : value;
  });
}

/** A buffer has become its own kind of JSON before. */
function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  const isBuffer = value !== null && typeof value === 'object' && 'type' in value && value.type === 'Buffer';
  return isBuffer ? Buffer.from((value as unknown as { data: number[] }).data) : undefined;
}
