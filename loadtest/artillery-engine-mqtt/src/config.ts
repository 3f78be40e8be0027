import type { ClockName } from '@apus/loadtest/measure';
import type { Script } from './artillery.ts';
import { StepFields } from './fields.ts';
import { StepError } from './step-error.ts';

/** `config.engines.mqtt` with its defaults. */
export interface EngineConfig {
  /** `config.target`: `ws:` or `wss:`, or `mqtt:` and `mqtts:` for binary frames over TCP. */
  readonly url: string;
  /** `binary`: MQTT's own frames. `text`: text frames for the gateway door. */
  readonly frames: 'binary' | 'text';
  readonly version: '3.1.1' | '5';
  readonly keepAliveSeconds: number;
  readonly cleanStart: boolean;
  readonly sessionExpirySeconds: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** For the gateway door: the token in a query parameter of the URL. */
  readonly token: string | undefined;
  /** How long CONNECT and SUBSCRIBE may take. */
  readonly timeoutSeconds: number;
  /** The wait before mqtt.js reconnects; 0: a lost connection stays lost, and is counted. */
  readonly reconnectMs: number;
  /** The run tag in every payload's header; the same in all workers. Undefined: derived from Artillery's test id. */
  readonly runTag: number | undefined;
  /** `monotonic` for one machine, `wall` for several. */
  readonly clock: ClockName;
  /** A folder for the counts of each worker. Undefined: they are not written. */
  readonly ledgers: string | undefined;
}

const SECONDS_MAX = 86_400;

/** @throws {StepError} for a field that is unknown or out of its range */
export function configOf({ config }: Script): EngineConfig {
  const fields = new StepFields('config.engines.mqtt', config.engines?.mqtt ?? {});
  const read: EngineConfig = {
    url: targetOf(config.target),
    frames: fields.oneOf('frames', ['binary', 'text']) ?? 'binary',
    version: fields.oneOf('version', ['3.1.1', '5']) ?? '5',
    keepAliveSeconds: fields.number('keepAliveSeconds', 0, 65_535) ?? 60,
    cleanStart: fields.flag('cleanStart') ?? true,
    sessionExpirySeconds: fields.number('sessionExpirySeconds', 0, 0xffff_ffff) ?? 0,
    username: fields.text('username'),
    password: fields.text('password'),
    token: fields.text('token'),
    timeoutSeconds: fields.number('timeoutSeconds', 1, SECONDS_MAX) ?? 30,
    reconnectMs: fields.number('reconnectMs', 0, SECONDS_MAX * 1_000) ?? 0,
    runTag: fields.number('runTag', 0, 0xffff),
    clock: fields.oneOf('clock', ['monotonic', 'wall']) ?? 'monotonic',
    ledgers: fields.text('ledgers'),
  };
  fields.nothingElse();
  return read;
}

function targetOf(target: string | undefined): string {
  if (target !== undefined && /^(wss?|mqtts?):/.test(target) && URL.canParse(target)) return target;
  throw new StepError(`config.target is a URL as ws://127.0.0.1:8083/mqtt, not ${JSON.stringify(target)}`);
}
