import { expect, test } from 'vitest';
import { type EmulatorOptions, startEmulator } from '../../src/index.ts';
import { Client, ok } from '../support.ts';

/** The secrets that a caller needs to post to a connection: credentials, and the connection's id. */
async function secretsOf(options: Partial<EmulatorOptions>) {
  const ids: string[] = [];
  const emulator = await startEmulator({
    ...options,
    createEnvironment: ({ variables }) => ({
      connect: async ({ requestContext }) => {
        ids.push(requestContext.connectionId, variables.AWS_SECRET_ACCESS_KEY ?? '');
        return ok;
      },
      default: async () => ok,
      disconnect: async () => ok,
    }),
  });
  const client = await Client.open(emulator.url);
  client.socket.terminate();
  const { seed, credentials } = emulator;
  await emulator.stop();
  return { seed, secrets: [credentials, ...ids] };
}

test('[SEC-ORIGIN-3] without a seed, an attacker who guesses the 32 bits of a seed cannot reproduce secrets', async () => {
  const real = await secretsOf({});
  const guessed = await secretsOf({ seed: real.seed });
  expect(guessed.secrets).toHaveLength(3);
  for (const [index, secret] of guessed.secrets.entries()) expect(real.secrets[index]).not.toEqual(secret);
});

test('with a seed, everything is drawn from it', async () => {
  expect(await secretsOf({ seed: 7 })).toEqual(await secretsOf({ seed: 7 }));
});
