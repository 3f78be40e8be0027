import type { Problem } from './ledger.ts';

/** The fate of the will of one connection. */
export type Fate =
  /** The will must be published. */
  | 'owed'
  /** The will must not be published. */
  | 'withdrawn'
  /** The client cannot know: its CONNECT or its DISCONNECT was not answered, or it returned meanwhile. */
  | 'either';

interface Will {
  readonly qos: 1 | 2;
  fate: Fate;
  received: number;
}

/** Wills by payload; each payload belongs to one connection. */
export class WillLedger {
  readonly #wills = new Map<string, Will>();

  /** A connection has a will; it is not yet known whether CONNECT arrives. */
  begun(payload: string, qos: 1 | 2): void {
    this.#wills.set(payload, { qos, fate: 'either', received: 0 });
  }

  decide(payload: string, fate: Fate): void {
    const will = this.#wills.get(payload);
    if (will === undefined) throw new Error(`no connection has the will ${payload}`);
    will.fate = fate;
  }

  received(payload: string): void {
    const will = this.#wills.get(payload);
    if (will === undefined) throw new Error(`no connection has the will ${payload}`);
    will.received += 1;
  }

  get counts(): { readonly wills: number; readonly owed: number; readonly received: number } {
    const wills = [...this.#wills.values()];
    return {
      wills: wills.length,
      owed: wills.filter(({ fate }) => fate === 'owed').length,
      received: wills.reduce((sum, { received }) => sum + received, 0),
    };
  }

  get missing(): Problem[] {
    return this.#where(({ fate, received }) => fate === 'owed' && received === 0, 'was owed and never came');
  }

  get problems(): Problem[] {
    return [
      ...this.missing,
      ...this.#where(({ fate, received }) => fate === 'withdrawn' && received > 0, 'came though withdrawn'),
      // At QoS 1 a delivery may be repeated.
      ...this.#where(({ qos, received }) => qos === 2 && received > 1, 'came twice'),
    ];
  }

  #where(isWrong: (will: Will) => boolean, what: string): Problem[] {
    return [...this.#wills].flatMap(([payload, will]) =>
      isWrong(will) ? [{ what: `will: ${payload} ${what}`, about: `wills/mortal=${payload}` }] : [],
    );
  }
}
