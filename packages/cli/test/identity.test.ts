import { describe, expect, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { Built } from './support/built.ts';
import { runInThisProcess } from './support/in-this-process.ts';
import { temporaryFile } from './support/temporary-file.ts';

const apus = new Built();

describe('apus serve --identity and apus identity check', () => {
  const secret = '0123456789abcdef0123456789abcdef';
  const file = (value: unknown) =>
    temporaryFile('identity.json', typeof value === 'string' ? value : JSON.stringify(value));

  test('accept the tokens of the configuration', async () => {
    const path = file({ authenticators: [{ jwt: { secretFile: temporaryFile('secret', `${secret}\n`) } }] });
    const check = await apus.run(['identity', 'check', path]);
    expect(check).toMatchObject({ code: 0, stdout: `jwt: ready\n${path} is good.\n` });
    const node = await apus.serve(['--identity', path]);
    const { stdout: token } = await apus.run(['token', '--sub', 'ada'], secret);
    const { connack, client } = await RawClient.connect(`${node.url}?token=${token.trim()}`);
    expect(connack.reasonCode).toBe(0);
    client.close();
    await expect(RawClient.connect(`${node.url}?token=hello`)).rejects.toThrow('403');
    expect((await RawClient.connect(node.url)).connack.reasonCode).toBe(0x87);
  });

  test.each([
    ['{"authenticators": [{"jwt": {"secret": "', 'is not JSON. It should look like'],
    [{}, 'authenticators has to be a list of 1 to 10'],
    [{ authenticators: [{ ldap: {} }] }, 'authenticators[0] has to be one of {"jwt": {…}}'],
    [{ authenticators: [{ jwt: { secret, issuer: 7 } }] }, 'authenticators[0].jwt.issuer has to be a text'],
    [{ authenticators: [{ jwt: { secrt: secret } }] }, 'authenticators[0].jwt has no field "secrt"'],
    [{ authenticators: [{ users: { file: '/nowhere.json' } }] }, 'ENOENT'],
    [{ authenticators: [{ jwt: { secretFile: '/nowhere' } }] }, 'ENOENT'],
    [
      { authenticators: [{ jwt: { jwksUrl: 'http://127.0.0.1:1/', issuer: 'i', audience: 'a' } }] },
      'The key set at http://127.0.0.1:1/ cannot be read now',
    ],
    [{ authenticators: [{ jwt: { secret } }], cookie: 'a b' }, 'has to be the name of a cookie'],
  ])('%j is explained in a sentence', async (configuration, sentence) => {
    const { code, stdout, stderr } = await runInThisProcess(['identity', 'check', file(configuration)]);
    expect(code).toBe(1);
    expect(stdout + stderr).toContain(sentence);
    expect(stdout + stderr).not.toContain(secret);
  });

  test('refuse a cookie without a list of pages at the start', async () => {
    const path = file({ authenticators: [{ jwt: { secret } }], cookie: 'session' });
    const { code, stderr } = await apus.run(['serve', '--port', '0', '--identity', path]);
    expect(code).toBe(1);
    expect(stderr).toContain('cross-site WebSocket hijacking');
    expect(stderr).toContain('--allow-origin');
  });
});
