import type { Command, Report } from '../protocol.ts';
import type { Outcome, PublishRequest } from '../types.ts';

/** The page's end of the link to the host: a worker's port, or in a test the host itself. */
export class Line {
  readonly #post: (command: Command) => void;
  readonly #publishes = new Map<number, (outcome: Outcome) => void>();
  readonly #keeps = new Map<number, () => void>();
  #calls = 0;

  constructor(post: (command: Command) => void) {
    this.#post = post;
  }

  send(command: Command): void {
    this.#post(command);
  }

  publish(id: string, request: PublishRequest): Promise<Outcome> {
    const call = this.#nextCall();
    return new Promise((resolve) => {
      this.#publishes.set(call, resolve);
      this.#post({ type: 'publish', id, call, request });
    });
  }

  keep(id: string, isKept: boolean): Promise<void> {
    const call = this.#nextCall();
    return new Promise((resolve) => {
      this.#keeps.set(call, resolve);
      this.#post({ type: 'keep', id, call, isKept });
    });
  }

  /** Passes an answer to its caller. */
  answered(report: Extract<Report, { readonly call: number }>): void {
    if (report.type === 'keeping') {
      this.#keeps.get(report.call)?.();
      this.#keeps.delete(report.call);
      return;
    }
    this.#publishes.get(report.call)?.(report.outcome);
    this.#publishes.delete(report.call);
  }

  #nextCall(): number {
    this.#calls += 1;
    return this.#calls;
  }
}
