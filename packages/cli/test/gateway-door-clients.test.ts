import { readIdentity } from '@apus/identity';
import { describe, expect, test } from 'vitest';
import { Built } from './support/built.ts';
import { type Door, doorsForTest, urlOf } from './support/doors.ts';

const apus = new Built();

describe('apus sub and apus pub', () => {
  const SECRET = 'a secret of at least thirty-two bytes';
  const identity = readIdentity({ authenticators: [{ jwt: { secret: SECRET } }] }, 'identity');
  const tokenFor = async (...filters: readonly string[]): Promise<string> => {
    const flags = filters.flatMap((filter) => ['--publish', filter, '--subscribe', filter]);
    return (await apus.run(['token', '--sub', 'me', ...flags], SECRET)).stdout.trim();
  };

  test('use the text frames of a gateway door', async () => {
    const node = await doorsForTest({ gatewayPort: 0 });
    const broker = ['-u', node.gateway?.url ?? ''];
    await apus.run(['pub', ...broker, '-t', 'said', '-m', 'kept', '-q', '1', '-r']);
    const { code, stdout } = await apus.run(['sub', ...broker, '-t', 'said', '-v', '-c', '1', '-q', '1']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'said kept\n' });
  });

  test.each<Door>(['node', 'gateway'])(
    'at the %s door send the token of APUS_TOKEN, or of --token',
    async (door) => {
      const broker = ['-u', urlOf(door, await doorsForTest({ gatewayPort: 0, identity }))];
      const token = await tokenFor('said/#');
      const said = await apus.run(['pub', ...broker, '--token', token, '-t', 'said/a', '-m', 'kept', '-r']);
      expect(said).toMatchObject({ code: 0, stderr: '' });
      const env = { APUS_TOKEN: token };
      const heard = await apus.run(['sub', ...broker, '-t', 'said/#', '-c', '1'], '', env);
      expect(heard).toMatchObject({ code: 0, stdout: 'kept\n' });
      const denied = await apus.run(['pub', ...broker, '-t', 'other', '-m', 'x', '-q', '1'], '', env);
      expect(denied).toMatchObject({ code: 1, stderr: expect.stringContaining('was not taken') });
    },
  );

  test('ask at a gateway door for a token, or another one, and do not repeat the token of the URL', async () => {
    const node = await doorsForTest({ gatewayPort: 0, identity });
    const url = node.gateway?.url ?? '';
    const without = await apus.run(['pub', '-u', url, '-t', 'a', '-m', 'x']);
    expect(without).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/It wants a token.*APUS_TOKEN/s),
    });
    const wrong = await apus.run(['sub', '-u', `${url}?token=a.b.c`, '-t', 'a']);
    expect(wrong.stderr).toMatch(/Cannot connect to ws:\S+\/mqtt\?…: .*The token may be wrong/s);
    expect(wrong.stderr).not.toContain('a.b.c');
  });
});
