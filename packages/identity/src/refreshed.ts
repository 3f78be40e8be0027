import { type Clock, steadyNow } from '@apus/broker';

export interface RefreshedOptions<T> {
  /** The name for errors, such as "the keys at https://id.example/jwks.json". */
  readonly what: string;
  /** Reads the value, within its own limits of time and size. */
  readonly read: () => Promise<T>;
  readonly clock: Clock;
  /** Called for each failed read. */
  readonly failed?: ((error: Error) => void) | undefined;
  /** Milliseconds after which the value is read again. */
  readonly freshMs: number;
  /** Milliseconds for which the old value is used while the source cannot be read. */
  readonly staleMs: number;
  /** The least time before a look-up of an unknown key reads again: any client can invent a `kid` [SEC-TOKEN-2]. */
  readonly againMs: number;
}

/** The least time before a failed read is tried again. */
const RETRY_MS = 2_000;

/** The source cannot be read now, and the last value is too old. */
export class SourceUnavailable extends Error {
  override readonly name = 'SourceUnavailable';
}

/** A value that is kept elsewhere and may change there: keys of an identity provider, a secret, a list of users. */
export class Refreshed<T> {
  readonly #options: RefreshedOptions<T>;
  #value: { readonly is: T; readonly readAtMs: number } | undefined;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #error: Error | undefined;
  #reading: Promise<void> | undefined;

  constructor(options: RefreshedOptions<T>) {
    this.#options = options;
  }

  /** @throws {SourceUnavailable} */
  async current(): Promise<T> {
    const { freshMs, staleMs, what } = this.#options;
    if (this.#ageMs() >= freshMs && !this.#isPaused()) await this.#read();
    if (this.#value !== undefined && this.#ageMs() < staleMs) return this.#value.is;
    throw new SourceUnavailable(`${what} cannot be read now`, { cause: this.#error });
  }

  /** Reads again, because a look-up found nothing. False: the source has nothing newer. */
  async again(): Promise<boolean> {
    if (this.#isPaused()) return false;
    const before = this.#value;
    await this.#read();
    return this.#value !== before;
  }

  #isPaused(): boolean {
    if (this.#reading !== undefined) return false;
    const pauseMs = this.#error === undefined ? this.#options.againMs : RETRY_MS;
    return steadyNow(this.#options.clock) - this.#triedAtMs < pauseMs;
  }

  #ageMs(): number {
    return steadyNow(this.#options.clock) - (this.#value?.readAtMs ?? Number.NEGATIVE_INFINITY);
  }

  /** One read at a time: clients that come at the same time wait for the same one. */
  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    const { read, clock, failed } = this.#options;
    this.#triedAtMs = steadyNow(clock);
    try {
      this.#value = { is: await read(), readAtMs: steadyNow(clock) };
      this.#error = undefined;
    } catch (error) {
      this.#error = error instanceof Error ? error : new Error(String(error));
      failed?.(this.#error);
    }
  }
}
