import type { Clock } from '../clock/clock.ts';
import { FreezingClock } from '../clock/freezing-clock.ts';
import type { Random } from '../clock/random.ts';
import type { Dice, Faults } from '../faults.ts';
import { type Credentials, createCredentials } from './credentials.ts';
import type { Environment } from './types.ts';

export interface EnvironmentSettings {
  readonly id: string;
  readonly coldStart: number;
  readonly managementEndpoint: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly dice: Dice;
  readonly faults: Faults;
}

/**
 * An execution environment of Lambda: it runs during an invocation and is frozen otherwise. JavaScript in this process
 * cannot be stopped, so the emulator holds back the things that the code needs from outside: its requests, its clock
 * and its checkpoints.
 */
export class ExecutionEnvironment implements Environment {
  readonly id: string;
  readonly coldStart: number;
  readonly managementEndpoint: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly credentials: Credentials;
  readonly #settings: EnvironmentSettings;
  readonly #freezingClock: FreezingClock;
  readonly #death = new AbortController();
  /** INIT runs from the start. */
  #running = true;
  #onThaw: (() => void)[] = [];

  constructor(settings: EnvironmentSettings) {
    this.#settings = settings;
    this.id = settings.id;
    this.coldStart = settings.coldStart;
    this.managementEndpoint = settings.managementEndpoint;
    this.credentials = createCredentials(settings.random);
    this.variables = { ...settings.variables, ...credentialVariables(this.credentials) };
    const { clock, dice, faults, id } = settings;
    this.#freezingClock = new FreezingClock(clock, dice.skewMs(faults.clockSkewMs, id));
  }

  get clock(): Clock {
    return this.#freezingClock;
  }

  get signal(): AbortSignal {
    return this.#death.signal;
  }

  get dead(): boolean {
    return this.#death.signal.aborted;
  }

  get running(): boolean {
    return this.#running && !this.dead;
  }

  /** Resolves at once while it runs, at its next invocation while it is frozen, never once it is dead. */
  async untilRunning(): Promise<void> {
    // The environment thawed and froze again before this continuation ran: it waits for the next invocation.
    while (!this.running) await new Promise<void>((resolve) => this.#onThaw.push(resolve));
  }

  async checkpoint(name: string): Promise<void> {
    await this.untilRunning();
    const { dice, faults } = this.#settings;
    if (!dice.strikes('killAtCheckpoint', faults.killAtCheckpoint, { environmentId: this.id, name })) return;
    this.kill();
    await this.untilRunning();
  }

  thaw(): void {
    this.#running = true;
    this.#freezingClock.thaw();
    const waiting = this.#onThaw;
    this.#onThaw = [];
    for (const resolve of waiting) resolve();
  }

  freeze(): void {
    this.#running = false;
    this.#freezingClock.freeze();
  }

  /** Kills it, as a failure of the machine does: nothing that it has begun comes back. */
  kill(): void {
    this.freeze();
    this.#onThaw = [];
    this.#freezingClock.stop();
    this.#death.abort();
  }
}

function credentialVariables(credentials: Credentials): Record<string, string> {
  return {
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: credentials.sessionToken,
  };
}
