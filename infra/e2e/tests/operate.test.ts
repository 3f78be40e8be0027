import { expect, it, onTestFinished } from 'vitest';
import { apus } from '../support/apus.ts';
import { connectClient, unique } from '../support/client.ts';
import { deployed } from '../support/deployed.ts';
import { openSocket } from '../support/socket.ts';
import { tokenFor } from '../support/token.ts';

/** Each function instance reads the list twice a minute. */
const KNOWN_MS = 60_000;
const TEST_MS = 180_000;

const STACK = ['--stack', deployed.stackName];

/** The output of a command that must succeed. */
async function done(...args: string[]): Promise<string> {
  const { code, lines, stderr } = await apus([...args, ...STACK]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return lines.join('\n');
}

it('apus doctor reads the quotas that the emulator has', async () => {
  const { code, lines } = await apus(['doctor', '--connections', '10']);
  expect({ code, text: lines.join('\n') }).toMatchObject({
    code: 0,
    text: expect.stringContaining("AWS's default"),
  });
});

it('apus clients lists the connected clients, and apus kick ends one', async () => {
  const client = await connectClient({ token: await tokenFor('kate'), reconnectPeriod: 0 });
  const { clientId = '' } = client.mqtt.options;
  expect(await done('clients')).toContain(clientId);
  const told = new Promise((resolve) => client.mqtt.once('disconnect', resolve));
  await done('kick', clientId);
  expect(await told).toMatchObject({ reasonCode: 0x98 });
});

it(
  'apus ban ends the clients of a name and keeps them out, until apus unban',
  async () => {
    const eve = unique('eve');
    onTestFinished(() => void apus(['unban', '--user', eve, ...STACK]));
    const client = await connectClient({ token: await tokenFor(eve), reconnectPeriod: 0 });
    const closed = new Promise<void>((resolve) => client.mqtt.once('close', () => resolve()));
    await done('ban', '--user', eve, '--reason', 'loops');
    await closed;
    expect(await done('bans')).toMatch(new RegExp(`${eve}.*loops`));
    await expect
      .poll(async () => await openSocket(await tokenFor(eve), ['mqtt-text-v1']), { timeout: KNOWN_MS })
      .toEqual({ status: 403 });
    await done('unban', '--user', eve);
    expect(await done('bans')).not.toContain(eve);
  },
  TEST_MS,
);
