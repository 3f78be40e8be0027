import { afterEach, describe, expect, it, vi } from 'vitest';
import { functionLog } from '../src/lambda/function-log.ts';
import { FunctionMetrics } from '../src/lambda/function-metrics.ts';
import { METRICS } from '../src/lambda/metric-names.ts';

/** What is written from now on, line by line. */
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
      'the environment variable APUS_LOG_LEVEL is loud: it is one of debug, info, warn, error',
    );
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
