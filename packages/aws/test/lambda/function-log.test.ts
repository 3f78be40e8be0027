import { afterEach, describe, expect, it, vi } from 'vitest';
import { functionLog } from '../../src/lambda/function-log.ts';
import { FunctionMetrics } from '../../src/lambda/function-metrics.ts';
import { createRuntime } from '../../src/lambda/runtime.ts';
import { METRICS } from '../../src/metrics/metric-names.ts';

/** Captures the log lines written from now on. */
function written(): () => readonly Record<string, unknown>[] {
  const texts: string[] = [];
  const keep = (chunk: unknown) => {
    texts.push(String(chunk));
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  vi.spyOn(process.stderr, 'write').mockImplementation(keep);
  return () =>
    texts
      .join('')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

describe('the log of the functions', () => {
  it('writes no character that a terminal obeys, or that turns its text [SEC-LOG-5]', () => {
    const lines = written();
    functionLog({}).warn('a', { clientId: '\u009b2J\u202etxt', error: 'one\n  two' });
    expect(lines()).toMatchObject([{ clientId: '\\u009b2J\\u202etxt', error: 'one\n  two' }]);
  });

  it("writes from its own level on, although Lambda's control lets more pass", () => {
    vi.stubEnv('AWS_LAMBDA_LOG_LEVEL', 'INFO');
    const lines = written();
    const log = functionLog({ APUS_LOG_LEVEL: 'warn' });
    log.debug('a', {});
    log.info('b', {});
    log.warn('c', { connectionId: 'x' });
    log.error('d');
    expect(lines()).toMatchObject([
      { level: 'WARN', message: 'c', connectionId: 'x' },
      { level: 'ERROR', message: 'd' },
    ]);
  });

  it('refuses a level that is none', () => {
    expect(() => functionLog({ APUS_LOG_LEVEL: 'loud' })).toThrow(
      'the environment variable APUS_LOG_LEVEL is loud: it has to be one of error, warn, info, debug',
    );
  });
});

describe('a function that refuses many tokens', () => {
  const variables = {
    APUS_TABLE_NAME: 'apus',
    APUS_SESSIONS_TABLE_NAME: 'apus-sessions',
    APUS_TIMER_QUEUE_URL: 'https://sqs.example/timers',
    APUS_FAN_OUT_QUEUE_URL: 'https://sqs.example/fan-out.fifo',
    APUS_MANAGEMENT_ENDPOINT: 'https://gateway.example/stage',
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
  };

  it('writes one line for those of one address, and counts them all [SEC-LOG-1]', () => {
    vi.stubEnv('AWS_LAMBDA_LOG_LEVEL', 'INFO');
    const lines = written();
    const { log, metrics } = createRuntime(variables, () => ({
      authenticator: { authenticate: () => ({ tenant: 'default', name: '' }) },
      authorizer: { mayPublish: () => false, maySubscribe: () => false },
      handshakes: undefined,
      tokens: undefined,
    }));
    const count = vi.spyOn(metrics, 'add');
    for (let index = 0; index < 500; index++) {
      const connectionId = `c${index}`;
      log.warn('token-refused', { connectionId, address: '192.0.2.1', reason: 'x'.repeat(8_000) });
    }
    expect(lines()).toHaveLength(1);
    expect(JSON.stringify(lines()).length).toBeLessThan(1_000);
    expect(count).toHaveBeenCalledTimes(500);
  });
});

describe('the metrics of the functions', () => {
  it('are one line a minute, in the namespace and with the dimension that the dashboard looks at', () => {
    const lines = written();
    let nowMs = 0;
    const metrics = new FunctionMetrics('Apus/test', { now: () => nowMs });
    metrics.add(METRICS.messagesIn, 2);
    metrics.add(METRICS.messagesIn);
    metrics.flushWhenDue();
    expect(lines()).toEqual([]);
    nowMs = 60_000;
    metrics.flushWhenDue();
    metrics.flushWhenDue();
    expect(lines()).toMatchObject([
      {
        service: 'apus',
        MessagesIn: 3,
        _aws: { CloudWatchMetrics: [{ Namespace: 'Apus/test', Dimensions: [['service']] }] },
      },
    ]);
  });
});
