import { mintToken } from '@apus/identity';
import { connectAsync } from 'mqtt';
import { describe, expect, it } from 'vitest';
import { Built } from './support/built.ts';

const SECRET = 'a-secret-of-at-least-32-characters';

describe('apus serve --identity with JSON in place of a file', () => {
  const built = new Built();

  it('admits clients with valid credentials, and no others', async () => {
    const identity = { authenticators: [{ jwt: { secret: SECRET } }] };
    const { url } = await built.serve(['--identity', JSON.stringify(identity)]);
    const token = await mintToken(new TextEncoder().encode(SECRET), {
      sub: 'me',
      publish: ['#'],
      expiresInSeconds: 60,
      nowMs: Date.now(),
    });
    const client = await connectAsync(`${url}?token=${token}`, { reconnectPeriod: 0 });
    await client.endAsync();
    await expect(connectAsync(url, { reconnectPeriod: 0 })).rejects.toThrow();
  });

  it('reports what is wrong with it', async () => {
    const { code, stderr } = await built.run(['serve', '--identity', '{"authenticators": [{"jwt": {}}]}']);
    expect(code).toBe(1);
    expect(stderr).toContain('authenticators[0].jwt');
  });
});
