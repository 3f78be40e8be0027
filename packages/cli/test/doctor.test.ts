import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CommandError } from '../src/commands/command.ts';
import { doctor } from '../src/commands/doctor.ts';
import { parseFlags, UsageError } from '../src/commands/flags.ts';
import { diagnose } from '../src/doctor/diagnosis.ts';
import { type Account, startQuotaServices } from './support/quota-services.ts';

const QUOTAS = {
  concurrentExecutions: 1_000,
  requestsPerSecond: 10_000,
  burstRequests: 5_000,
  newConnectionsPerSecond: 500,
};

describe('a load compared with the quotas of an account', () => {
  const shares = (load: Parameters<typeof diagnose>[1]) =>
    diagnose(QUOTAS, load).map(({ quota, needed }) => [quota, needed]);

  it('counts frames, heartbeats, posts, and the return of a fleet', () => {
    // 1,000 frames and 100 heartbeats a second, 2,000 posts.
    expect(shares({ connections: 54_000, messagesPerSecond: 1_000, deliveriesPerMessage: 2 })).toEqual([
      ['requestsPerSecond', 3_100],
      ['burstRequests', 1_550],
      ['newConnectionsPerSecond', 90],
      ['concurrentExecutions', 110],
    ]);
  });

  it('counts workers if a message has many subscribers', () => {
    const [first] = shares({ connections: 0, messagesPerSecond: 10, deliveriesPerMessage: 1_000 });
    expect(first).toEqual(['requestsPerSecond', 10_010]);
    expect(shares({ connections: 0, messagesPerSecond: 10, deliveriesPerMessage: 1_000 })).toContainEqual([
      'concurrentExecutions',
      21,
    ]);
  });

  it('tells how to request twice the need, but not for quotas that cannot be raised', () => {
    const readings = diagnose(QUOTAS, { connections: 1, messagesPerSecond: 6_001, deliveriesPerMessage: 1 });
    const raiseOf = (quota: string) => readings.find((each) => each.quota === quota)?.raise;
    expect(raiseOf('concurrentExecutions')).toBe(
      'aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value 1300',
    );
    expect(raiseOf('requestsPerSecond')).toMatch(/--quota-code L-8A5B8E43 --desired-value 25000$/);
    expect(raiseOf('burstRequests')).toBeUndefined();
  });
});

describe('apus doctor', () => {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIA');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    vi.stubEnv('AWS_CONFIG_FILE', '/nonexistent');
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nonexistent');
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  const run = (...args: string[]) =>
    doctor.run(parseFlags(Object.assign({}, ...Object.values(doctor.flags)), args));
  const runOver = async (account: Account, ...args: string[]) => {
    vi.stubEnv('AWS_ENDPOINT_URL', await startQuotaServices(account));
    return await run('--region', 'eu-west-1', ...args);
  };

  it('reports that a new account with its concurrency of ten carries little, and how to get more', async () => {
    expect(await runOver({ concurrentExecutions: 10 }, '--messages-per-second', '200')).toBe(1);
    const [text = ''] = lines;
    expect(text).toContain(
      'It does not fit: Lambda: concurrent executions binds first, at about 99 messages a second.',
    );
    expect(text).toMatch(/Lambda: concurrent executions +21 of 10 +202 %/);
    expect(text).toContain('--service-code lambda --quota-code L-B99A9384 --desired-value 41');
    expect(text).toContain('A new account has 10');
  });

  it('reports that a small load fits, and how far it may grow', async () => {
    expect(await runOver({})).toBe(0);
    const [text = ''] = lines;
    expect(text).toMatch(
      /^It fits\. API Gateway: requests a second binds first, when the load has grown to about 49\.5 times\./,
    );
    expect(text).toMatch(/new connections a second +2 of 500 /);
    expect(text).not.toContain('aws service-quotas');
  });

  it('reads quotas that were raised', async () => {
    await runOver({ newConnectionsPerSecond: 2_000, throttle: { rateLimit: 40_000, burstLimit: 20_000 } });
    expect(lines[0]).toContain('of 2,000');
    expect(lines[0]).toContain('of 40,000');
  });

  it('takes the default of AWS for a quota that an emulator of AWS does not have, and says so', async () => {
    expect(await runOver({ lacksServiceQuotas: true, concurrentExecutions: 573 })).toBe(0);
    const [text = ''] = lines;
    expect(text).toMatch(/concurrent executions +11 of 573 /);
    expect(text).toMatch(/new connections a second +2 of 500 /);
    expect(text).toMatch(
      /\n\nService Quotas has not answered as it should \(.+\)\. 500 new connections a second/,
    );
  });

  it.each<[string, number, string]>([
    [
      'AccessDeniedException',
      403,
      'Your credentials may not read the quotas. They need lambda:GetAccountSettings',
    ],
    ['UnrecognizedClientException', 403, 'AWS does not know the access key'],
    ['ExpiredTokenException', 403, 'Your credentials have expired'],
    ['SomethingNew', 400, 'has not answered as it should (SomethingNew: refused).'],
    ['InvalidSignatureException', 403, 'The secret does not belong to the access key'],
  ])('says what %s means', async (name, status, sentence) => {
    const running = runOver({ refusal: { status, name } });
    await expect(running).rejects.toThrow(CommandError);
    await expect(running).rejects.toThrow(sentence);
  });

  it('reports missing credentials', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined);
    await expect(runOver({})).rejects.toThrow('No credentials for AWS were found');
  });

  it('reports a missing Region, or a Region without AWS', async () => {
    vi.stubEnv('AWS_REGION', undefined);
    vi.stubEnv('AWS_DEFAULT_REGION', undefined);
    await expect(run()).rejects.toThrow('No Region is set');
    vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:1');
    await expect(run('--region', 'eu-nowhere-1')).rejects.toThrow(
      /AWS cannot be reached in "eu-nowhere-1": (Lambda|API Gateway|Service Quotas) does not answer at 127\.0\.0\.1:1 \(ECONNREFUSED\)/,
    );
  });

  it.each([
    [['more'], 'takes only flags'],
    [['--connections', 'many'], '--connections takes a whole number'],
    [['--connections', '0', '--messages-per-second', '0'], 'A load has connections or messages.'],
  ])('refuses %j', async (args, sentence) => {
    await expect(run(...args)).rejects.toThrow(UsageError);
    await expect(run(...args)).rejects.toThrow(sentence);
  });
});
