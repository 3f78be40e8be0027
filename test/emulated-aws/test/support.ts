import { echo, type TestEmulator as GatewayEmulator } from '@apus/emulator/testing';
import { onTestFinished } from 'vitest';
import {
  type CreateEnvironment,
  type Emulator,
  type EmulatorOptions,
  type Environment,
  type Handlers,
  ManualClock,
  startEmulator,
} from '../src/index.ts';

export { Client, deferred, eventually, ok } from '@apus/emulator/testing';

export type TestEmulator = Emulator & Pick<GatewayEmulator, 'clock'>;

/** As `start` of `@apus/emulator/testing`, with queues. */
export async function start(
  handlers: (environment: Environment) => Partial<Handlers>,
  options: Partial<EmulatorOptions> = {},
): Promise<TestEmulator> {
  const clock = new ManualClock();
  const createEnvironment: CreateEnvironment<Handlers> = (environment) => ({
    ...echo,
    ...handlers(environment),
  });
  const emulator = await startEmulator({ clock, seed: 1, createEnvironment, ...options });
  onTestFinished(() => emulator.stop());
  return Object.assign(emulator, { clock });
}
