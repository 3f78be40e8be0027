import { createHash } from 'node:crypto';
import { type Clock, type Refusal, steadyNow } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import { addressGroup } from './address-group.ts';
import { KnownPlaces } from './known-places.ts';
import { LeakyCounts } from './leaky-counts.ts';

/** Wrong passwords for one name from one address that are answered without a wait: people mistype. */
const FREE_PER_NAME = 5;

/**
 * Wrong ones from one address, for any names: an office has one address, and many people who mistype. Above it each
 * name has one free try from there, and secrets without a name have to wait.
 */
const FREE_PER_ADDRESS = 30;

/** Wrong ones for one name from all addresses together. Above it each address has one free try. */
const BESIEGED_FROM = 50;

/** The wait after the free ones; each further wrong one doubles it. */
const FIRST_WAIT_MS = 1_000;

/**
 * The first wait after that one free try: the attacker has many names or addresses, and a user who mistypes can bear
 * it.
 */
const SUSPECT_FIRST_WAIT_MS = 30_000;

/** The longest wait: 288 guesses a day, and a client whose password was corrected does not stay out for long. */
const WAIT_MS_MAX = 300_000;

/** One wrong password is forgiven in the time of the longest wait, so that patience gains nothing. */
const FORGIVEN_MS = WAIT_MS_MAX;

/** 50 minutes after the last guess a name that was under attack is an ordinary one again. */
const NAME_FORGIVEN_MS = 60_000;
const NAME_COUNT_MAX = 2 * BESIEGED_FROM;

/** Doublings from the first wait to the longest. Further wrong ones are not counted. */
const DOUBLINGS_MAX = Math.ceil(Math.log2(WAIT_MS_MAX / FIRST_WAIT_MS));

/** Remembered counts of each kind; some 200 bytes each. */
const KEYS_MAX = 20_000;

/** Longer names are remembered by their hash: clients may send 64 KB. */
const NAME_LENGTH_MAX = 100;

/**
 * Slows clients that guess passwords, API keys or tokens. It counts wrong ones for a name from an address, for an
 * address and for a name, in memory, and returns how long the next try has to wait. A right password waits only where
 * the same address had wrong ones for the same name: no guesser keeps out another name, or another address. A name that
 * is guessed from many addresses, and an address that guesses many names, have one try instead of five; but five if
 * that name has logged in from that address before. [SEC-GUESS-1] [SEC-GUESS-2] [SEC-GUESS-3]
 */
export class GuessLimiter {
  readonly #clock: Clock;
  readonly #pairs = new LeakyCounts({
    leakMs: FORGIVEN_MS,
    countMax: FREE_PER_NAME + DOUBLINGS_MAX,
    keysMax: KEYS_MAX,
  });
  readonly #addresses = new LeakyCounts({
    leakMs: FORGIVEN_MS,
    countMax: FREE_PER_ADDRESS + DOUBLINGS_MAX,
    keysMax: KEYS_MAX,
  });
  readonly #names = new LeakyCounts({
    leakMs: NAME_FORGIVEN_MS,
    countMax: NAME_COUNT_MAX,
    keysMax: KEYS_MAX,
  });
  readonly #known = new KnownPlaces();
  /** Tries under way, by name and address, and those that wait for them. */
  readonly #tries = new Map<string, { running: number; readonly waiting: (() => void)[] }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Call it before the secret is checked: a try that has to wait gets this answer, even if the secret is right.
   *
   * @param name undefined if the secret alone identifies its owner, as an API key does
   * @param address a `Peer.address`
   */
  refusal(name: string | undefined, address: string): Refusal | undefined {
    const waitMs = this.waitMs(name, address);
    if (waitMs === 0) return undefined;
    const seconds = Math.ceil(waitMs / 1000);
    const reason = `Too many wrong passwords came from this address; the next is looked at in ${seconds} s`;
    return { refused: ReasonCode.ConnectionRateExceeded, reason };
  }

  /**
   * Runs a try, of which as many are under way as are free: those that come at once are not more than those that come
   * one by one. A name that has logged in from that address does not wait. [SEC-GUESS-7]
   */
  async run<T>(name: string | undefined, address: string, task: () => Promise<T>): Promise<T> {
    const group = addressGroup(address);
    const pair = name === undefined ? group : pairOf(keyOf(name), group);
    const isKnown = () => name !== undefined && this.#known.has(keyOf(name), group);
    if (isKnown()) return await task();
    await this.#enter(pair, name === undefined ? FREE_PER_ADDRESS : FREE_PER_NAME);
    try {
      return await task();
    } finally {
      this.#leave(pair, isKnown());
    }
  }

  /** Returns the wait; 0: the next try is checked. */
  waitMs(name: string | undefined, address: string): number {
    const nowMs = steadyNow(this.#clock);
    const group = addressGroup(address);
    if (name === undefined) return this.#addressWaitMs(group, nowMs);
    const key = keyOf(name);
    const last = this.#pairs.last(pairOf(key, group), nowMs);
    if (last === undefined) return 0;
    const waitMs = this.#isSuspect(key, group, nowMs)
      ? waitAfter(last.count, 1, SUSPECT_FIRST_WAIT_MS)
      : waitAfter(last.count, FREE_PER_NAME, FIRST_WAIT_MS);
    return Math.max(0, last.atMs + waitMs - nowMs);
  }

  wrong(name: string | undefined, address: string): void {
    const nowMs = steadyNow(this.#clock);
    const group = addressGroup(address);
    this.#addresses.add(group, nowMs);
    if (name === undefined) return;
    const key = keyOf(name);
    this.#names.add(key, nowMs);
    this.#pairs.add(pairOf(key, group), nowMs);
  }

  /**
   * Forgives the wrong ones of this address for this name, and no others: an attacker may have a valid password too.
   */
  right(name: string, address: string): void {
    const key = keyOf(name);
    const group = addressGroup(address);
    this.#pairs.delete(pairOf(key, group));
    this.#known.add(key, group);
  }

  #enter(pair: string, runningMax: number): Promise<void> | undefined {
    const tries = this.#tries.get(pair) ?? { running: 0, waiting: [] };
    this.#tries.set(pair, tries);
    if (tries.running >= runningMax) return new Promise((resolve) => tries.waiting.push(resolve));
    tries.running += 1;
    return undefined;
  }

  /** The next one takes the place; all do if the name was right. */
  #leave(pair: string, isKnown: boolean): void {
    const tries = this.#tries.get(pair);
    if (tries === undefined) return;
    const next = tries.waiting.splice(0, isKnown ? tries.waiting.length : 1);
    tries.running += next.length - 1;
    if (tries.running === 0) this.#tries.delete(pair);
    for (const goOn of next) goOn();
  }

  #isSuspect(name: string, group: string, nowMs: number): boolean {
    if (this.#known.has(name, group)) return false;
    return (
      this.#names.count(name, nowMs) > BESIEGED_FROM || this.#addresses.count(group, nowMs) > FREE_PER_ADDRESS
    );
  }

  #addressWaitMs(group: string, nowMs: number): number {
    const last = this.#addresses.last(group, nowMs);
    if (last === undefined) return 0;
    return Math.max(0, last.atMs + waitAfter(last.count, FREE_PER_ADDRESS, FIRST_WAIT_MS) - nowMs);
  }
}

/** The wait after the `count`-th wrong one, of which the first `free` cost none. */
function waitAfter(count: number, free: number, firstMs: number): number {
  const doublings = Math.ceil(count) - free;
  return doublings < 0 ? 0 : Math.min(firstMs * 2 ** doublings, WAIT_MS_MAX);
}

function pairOf(name: string, group: string): string {
  return `${group} ${name}`;
}

function keyOf(name: string): string {
  if (name.length <= NAME_LENGTH_MAX) return name;
  return createHash('sha256').update(name).digest('base64url');
}
